// Agents and the capabilities that they can be given.
import { Pages } from "./pages.js";
import type {
  Agent,
  AgentChange,
  Capabilities as Listing,
  CapabilityDetail,
  NewAgent,
  NewAgentSession,
  Operations,
  Session,
} from "./schema.js";
import type { Answer, CallOptions, Wire } from "./wire.js";

/** Capabilities. */
export class Capabilities {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Lists every capability that agents can be given, usable or not. */
  async list(options?: CallOptions): Promise<Listing> {
    return (await this.#wire.call("GET /v1/capabilities", {}, options)).value;
  }

  /** Shows a capability with its tools. */
  async get(capability: string, options?: CallOptions): Promise<CapabilityDetail> {
    return (await this.#wire.call("GET /v1/capabilities/{capability}", { path: { capability } }, options)).value;
  }
}

/** An agent as somebody has seen it. */
export type SeenAgent = Agent & {
  /** Its version: given back with a change, it is made only if nobody else has changed the agent since. */
  etag: string | undefined;
};

/** Which agents to list. */
export type AgentFilter = Omit<NonNullable<Operations["GET /v1/agents"]["query"]>, "after">;

/** What a change takes. */
export type ChangeOptions = CallOptions & {
  /** The `etag` of the agent as it was seen; otherwise it is changed as it is. */
  etag?: string | undefined;
};

/** Agents. */
export class Agents {
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Lists agents in the order of creation. */
  list(filter: AgentFilter = {}, options?: CallOptions): Pages<Agent> {
    return new Pages(async (after) => {
      const query = after === undefined ? filter : { ...filter, after };
      return (await this.#wire.call("GET /v1/agents", { query }, options)).value;
    });
  }

  /** Makes an agent. It is sent once: when no answer comes, look at the list. */
  async create(agent: NewAgent, options?: CallOptions): Promise<SeenAgent> {
    return seen(await this.#wire.call("POST /v1/agents", { body: agent }, options));
  }

  /** Shows an agent. */
  async get(agent: string, options?: CallOptions): Promise<SeenAgent> {
    return seen(await this.#wire.call("GET /v1/agents/{agent}", { path: { agent } }, options));
  }

  /** Changes what is named; with an `etag`, only if nobody else has changed the agent since, else the code is `changed`. */
  async update(agent: string, change: AgentChange, options: ChangeOptions = {}): Promise<SeenAgent> {
    const sent = { path: { agent }, body: change, headers: match(options) };
    return seen(await this.#wire.call("PATCH /v1/agents/{agent}", sent, options));
  }

  /** Archives an agent: it stays in the list, and is not changed any more. */
  async archive(agent: string, options: ChangeOptions = {}): Promise<SeenAgent> {
    const sent = { path: { agent }, body: {}, headers: match(options) };
    return seen(await this.#wire.call("POST /v1/agents/{agent}/archive", sent, options));
  }

  /** Shows an agent as Markdown: what it is in front, and its system prompt. */
  async export(agent: string, options?: CallOptions): Promise<string> {
    return (await this.#wire.text("GET /v1/agents/{agent}/export", { path: { agent } }, options)).value;
  }

  /** Makes an agent from Markdown, as `export` writes it; what cannot be kept is refused. It is sent once: when no answer comes, look at the list. */
  async import(document: string, options?: CallOptions): Promise<SeenAgent> {
    return seen(await this.#wire.call("POST /v1/agents/import", { body: document }, options));
  }

  /** Lists the sessions of an agent in the order of creation. */
  sessions(agent: string, page: { limit?: number } = {}, options?: CallOptions): Pages<Session> {
    return new Pages(async (after) => {
      const query = after === undefined ? page : { ...page, after };
      return (await this.#wire.call("GET /v1/agents/{agent}/sessions", { path: { agent }, query }, options)).value;
    });
  }

  /** Makes a session of an agent. It is sent once: when no answer comes, look at the list. */
  async createSession(agent: string, session: NewAgentSession = {}, options?: CallOptions): Promise<Session> {
    return (await this.#wire.call("POST /v1/agents/{agent}/sessions", { path: { agent }, body: session }, options)).value;
  }
}

function match(options: ChangeOptions): Record<string, string> {
  return options.etag === undefined ? {} : { "if-match": options.etag };
}

function seen(answer: Answer<Agent>): SeenAgent {
  return { ...answer.value, etag: answer.headers.get("etag") ?? undefined };
}
