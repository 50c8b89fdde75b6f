/** What the server is sent and answers, made from schema/openapi.json by `cargo xtask generated`. */
export interface Abilities {
    abilities: {
        name: string;
        status: string;
        [name: string]: unknown;
    }[];
    enabled: boolean;
    /** The `after` of the next page, if `limit` or `after` was said; null at the end */
    next?: string | null;
    [name: string]: unknown;
}
export interface Ability {
    definition: Record<string, unknown>;
    name: string;
    status: string;
    [name: string]: unknown;
}
export interface Agent {
    /** Earlier ones speak first */
    capabilities: string[];
    /** What is configured for capabilities, by their ids */
    configuration?: Record<string, Record<string, unknown>>;
    /** Milliseconds since 1970 */
    created_at: number;
    description: string | null;
    id: string;
    model: string | null;
    name: string;
    status: "active" | "archived";
    system_prompt: string;
    /** Milliseconds since 1970 */
    updated_at: number;
}
/** The id of a capability, whose configuration stays as it is, or what is configured for it */
export type AgentCapability = string | {
    /** What fits the capability, at most 16 KiB; null takes away what there is */
    configuration: Record<string, unknown> | null;
    id: string;
};
export interface AgentChange {
    /** Earlier ones speak first */
    capabilities?: AgentCapability[];
    description?: string | null;
    model?: string | null;
    name?: string | null;
    system_prompt?: string | null;
}
/** Markdown with `name`, `description`, `model` and `capabilities` in front; the rest is the system prompt */
export type AgentDocument = string;
export interface AgentPage {
    items: Agent[];
    /** The `after` of the next page; null at the end */
    next: string | null;
}
export interface Answered {
    by: string;
    id: string;
    run: string | null;
    status: string;
}
export interface Approval {
    ability: string | null;
    approvers: string[];
    /** What the tool would be given */
    arguments: unknown;
    deadline: number | null;
    /** What the answer is sent to */
    id: string;
    kind: "plan" | "approval" | "failure" | "tool";
    options: {
        label: string;
        value: string;
    }[];
    parent: string | null;
    prompt: string;
    /** The run that asks */
    run: string | null;
    /** The session whose agent wants to call a tool */
    session: string | null;
    started_by: string | null;
    step: string | null;
    tool: string | null;
}
export interface ApprovalPage {
    items: Approval[];
    /** The `after` of the next page; null at the end */
    next: string | null;
}
export interface AuditPage {
    items: Change[];
    /** The `after` of the next page; null at the end */
    next: string | null;
}
export interface Cancel {
    reason?: string | null;
}
export interface CancelTurn {
    queued?: boolean | null;
}
export interface CancelledTurns {
    items: Message[];
}
export interface Capabilities {
    items: Capability[];
    total: number;
}
export interface Capability {
    category: string | null;
    depends_on: string[];
    description: string;
    icon: string | null;
    id: string;
    name: string;
    /** Why it cannot be used here */
    reason?: string;
    risk: string;
    status: "available" | "coming_soon" | "deprecated" | "unavailable";
    version: number;
}
export interface CapabilityDetail {
    category: string | null;
    depends_on: string[];
    description: string;
    icon: string | null;
    id: string;
    name: string;
    /** Why it cannot be used here */
    reason?: string;
    risk: string;
    status: "available" | "coming_soon" | "deprecated" | "unavailable";
    system_prompt: string | null;
    tools: {
        arguments: Record<string, unknown>;
        description: string;
        name: string;
        policy: string;
        risk: string;
    }[];
    version: number;
}
export interface Change {
    /** The `operationId` of what was done */
    action: string;
    /** Milliseconds since 1970 */
    at: number;
    /** The name of the key, or of a user of the machine */
    by: string;
    /** What was asked for; never a secret */
    detail: Record<string, unknown>;
    hash: string;
    previous_hash: string;
    /** The `X-Request-Id` of the request */
    request: string | null;
    seq: number;
    /** The id of what was changed */
    subject: string;
}
export interface Deleted {
    /** How many files and folders went */
    deleted: number;
    path: string;
}
/** An OpenAPI 3.1 document */
export type Document = Record<string, unknown>;
export interface Event {
    /** Milliseconds since 1970 */
    at: number;
    data: unknown;
    seq: number;
    type: string;
}
export interface EventPage {
    items: Event[];
    /** The `after` of the next page; null at the end */
    next: string | null;
}
export interface File {
    /** Milliseconds since 1970 */
    created_at: number;
    is_directory: boolean;
    is_readonly: boolean;
    name: string;
    path: string;
    size_bytes: number;
    /** Milliseconds since 1970 */
    updated_at: number;
}
export interface FileContent {
    content: string;
    /** Milliseconds since 1970 */
    created_at: number;
    encoding: "text" | "base64";
    is_directory: boolean;
    is_readonly: boolean;
    name: string;
    path: string;
    size_bytes: number;
    /** Milliseconds since 1970 */
    updated_at: number;
}
export type FileOrFolder = Folder | FileContent;
export interface Folder {
    /** How many there are, on all pages */
    count: number;
    entries: File[];
    /** The `after` of the next page, if `limit` or `after` was said; null at the end */
    next?: string | null;
    path: string;
}
export interface Graph {
    ability: string;
    edges: unknown[];
    steps: unknown[];
    [name: string]: unknown;
}
export interface Health {
    status: "ok";
}
export interface Key {
    /** Milliseconds since 1970 */
    created_at: number;
    created_by: string;
    id: string;
    name: string;
    /** Milliseconds since 1970 */
    revoked_at: number | null;
    scopes: ("read" | "run" | "approve" | "admin")[];
}
export interface KeyPage {
    items: Key[];
    /** The `after` of the next page; null at the end */
    next: string | null;
}
export interface MadeKey {
    /** Milliseconds since 1970 */
    created_at: number;
    created_by: string;
    id: string;
    /** What opens it; it is kept nowhere */
    key: string;
    name: string;
    /** Milliseconds since 1970 */
    revoked_at: number | null;
    scopes: ("read" | "run" | "approve" | "admin")[];
}
export interface Matches {
    match_count: number;
    matches: Record<string, unknown>[];
    pattern: string;
    truncated?: boolean;
}
export interface Message {
    by: string;
    /** Milliseconds since 1970 */
    created_at: number;
    /** Its turn has the same */
    id: string;
    /** From 1, in the order in which they were taken */
    number: number;
    session: string;
    text: string;
    turn: {
        /** The last answer, once the turn is over */
        answer: string | null;
        /** Who wants it to end */
        cancelled_by: string | null;
        /** Milliseconds since 1970 */
        ended_at: number | null;
        /** Why there is no answer, or only a part */
        error: string | null;
        status: "queued" | "running" | "finished" | "cancelled" | "failed" | "out_of_budget";
    };
    when_busy: "queue" | "interrupt" | "refuse";
}
export interface MessagePage {
    items: Message[];
    /** The `after` of the next page; null at the end */
    next: string | null;
}
export interface Models {
    default: string | null;
    models: {
        default: boolean;
        help: string | null;
        model: string;
        problem: string | null;
        provider: string;
        /** Whether it can be asked; `problem` and `help` say why not */
        usable: boolean;
        [name: string]: unknown;
    }[];
    providers: {
        help: string | null;
        /** Where the key comes from, never the key */
        key: string | null;
        problem: string | null;
        provider: string;
        url: string | null;
        /** Whether it can be asked; `problem` and `help` say why not */
        usable: boolean;
        [name: string]: unknown;
    }[];
    [name: string]: unknown;
}
export interface NewAgent {
    /** Earlier ones speak first */
    capabilities?: AgentCapability[];
    description?: string | null;
    model?: string | null;
    name: string;
    system_prompt?: string | null;
}
export interface NewAgentSession {
    title?: string | null;
}
export interface NewAnswer {
    /** The `value` of an option, or `rejected` */
    answer: string;
    comment?: string | null;
    /** The step that asks; without one the plan, or the call of a tool, is answered */
    step?: string | null;
}
export interface NewKey {
    name: string;
    scopes: ("read" | "run" | "approve" | "admin")[];
}
export interface NewMessage {
    /** What is said; `/name arguments` runs a skill */
    text: string;
    /** While another turn is not over: wait, end it and be next, or be refused with 409 */
    when_busy?: "queue" | "interrupt" | "refuse" | null;
}
export interface NewPlace {
    from: string;
    to: string;
}
export interface NewPlan {
    input?: string | null;
    /** Values by the name of the input */
    inputs?: Record<string, unknown> | null;
}
export interface NewRun {
    ability: string;
    /** The text that templates see as `input` */
    input?: string | null;
    /** Values by the name of the input */
    inputs?: Record<string, unknown> | null;
}
export interface NewSession {
    agent: string;
    title?: string | null;
}
export type Nothing = Record<string, never>;
export type Plan = Record<string, unknown>;
export interface Problem {
    /** Never changes its meaning */
    code: "bad_request" | "bad_parameter" | "bad_body" | "no_key" | "wrong_key" | "no_scope" | "foreign_origin" | "foreign_host" | "no_route" | "no_method" | "not_found" | "not_yours" | "refused" | "reused" | "changed" | "capability" | "too_slow" | "too_long" | "not_json" | "wrong_kind" | "invalid" | "too_many" | "internal" | "unavailable";
    detail: string;
    help?: string;
    status: number;
    title: string;
    type: string;
    [name: string]: unknown;
}
export interface Problems {
    files: unknown[];
    [name: string]: unknown;
}
export interface Resume {
    /** What to do with a step that was cut short */
    decision?: "rerun" | "fail" | null;
    /** Secret inputs, which no log holds */
    inputs?: Record<string, unknown> | null;
}
export interface Run {
    ability: string;
    by: string;
    children: Run[];
    error: string | null;
    questions: {
        approvers: string[];
        options: {
            label: string;
            value: string;
        }[];
        prompt: string;
        step: string;
    }[];
    run: string;
    status: "awaiting_plan" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "timed_out" | "interrupted";
    /** The step that calls it */
    step?: string;
    steps: {
        attempts: number;
        note: string | null;
        status: string;
        step: string;
    }[];
    verdicts: Record<string, number>;
}
export interface RunHead {
    ability: string;
    by: string;
    /** Milliseconds since 1970 */
    changed_at: number;
    /** Milliseconds since 1970 */
    created_at: number;
    error: string | null;
    events: number;
    parent: string | null;
    rerun_of: string | null;
    run: string;
    session: string | null;
    status: "awaiting_plan" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "timed_out" | "interrupted";
}
export interface RunPage {
    items: RunHead[];
    /** The `after` of the next page; null at the end */
    next: string | null;
}
export interface Session {
    /** The id of its agent */
    agent: string;
    /** Who made it */
    by: string;
    /** Milliseconds since 1970 */
    created_at: number;
    id: string;
    title: string | null;
    /** When it was changed or told something last, in milliseconds since 1970 */
    updated_at: number;
}
export interface SessionChange {
    title?: string | null;
}
export interface SessionDetail {
    /** The id of its agent */
    agent: string;
    /** Who made it */
    by: string;
    /** Milliseconds since 1970 */
    created_at: number;
    /** How many events it has: a stream after so many tells what happens from now on */
    events: number;
    id: string;
    /** How many messages are not over */
    open: number;
    status: "idle" | "active";
    title: string | null;
    /** The message whose turn is under way */
    turn: string | null;
    /** When it was changed or told something last, in milliseconds since 1970 */
    updated_at: number;
}
export interface SessionPage {
    items: Session[];
    /** The `after` of the next page; null at the end */
    next: string | null;
}
export interface Skill {
    /** What it says; missing if it cannot be read */
    body?: string;
    description: string | null;
    digest: string | null;
    file: string;
    name: string;
    origin: string;
    problems: Record<string, unknown>[];
    reason: string | null;
    /** `reason` says why it is not available */
    state: "available" | "unavailable" | "shadowed" | "dropped";
    trust: string;
    [name: string]: unknown;
}
export interface SkillRow {
    description: string | null;
    file: string;
    name: string;
    origin: string;
    problems: Record<string, unknown>[];
    reason: string | null;
    /** `reason` says why it is not available */
    state: "available" | "unavailable" | "shadowed" | "dropped";
    [name: string]: unknown;
}
export interface Skills {
    /** The `after` of the next page, if `limit` or `after` was said; null at the end */
    next?: string | null;
    problems: Record<string, unknown>[];
    skills: SkillRow[];
    [name: string]: unknown;
}
export interface Version {
    api: string;
    name: string;
    version: string;
}
/** Every operation by its method and address. */
export interface Operations {
    /** This document as a page for people */
    "GET /docs": {
        answer: string;
    };
    /** Lists the abilities of the project, broken and shadowed ones too */
    "GET /v1/abilities": {
        query: {
            /** How many rows a page may have, 1 to 200; all is told if neither this nor `after` is said */
            limit?: number;
            /** The `next` of the page before */
            after?: string;
        };
        answer: Abilities;
    };
    /** Shows everything about one ability; a `/` in its name is written as %2F */
    "GET /v1/abilities/{ability}": {
        path: {
            ability: string;
        };
        answer: Ability;
    };
    /** The steps of an ability as a graph */
    "GET /v1/abilities/{ability}/graph": {
        path: {
            ability: string;
        };
        query: {
            /** json if not said */
            format?: "json" | "text" | "mermaid" | "dot" | "svg";
        };
        answer: Graph;
    };
    /** Shows what a run would do, without doing any of it */
    "POST /v1/abilities/{ability}/plan": {
        path: {
            ability: string;
        };
        body: NewPlan;
        answer: Plan;
    };
    /** Says everything that is wrong with an ability */
    "GET /v1/abilities/{ability}/problems": {
        path: {
            ability: string;
        };
        answer: Problems;
    };
    /** Lists agents in the order of creation */
    "GET /v1/agents": {
        query: {
            /** How many rows the page may have */
            limit?: number;
            /** The `next` of the page before */
            after?: string;
            /** both if not said */
            status?: "active" | "archived";
        };
        answer: AgentPage;
    };
    /** Makes an agent; a capability that it could not have is refused with 422, and nothing is made */
    "POST /v1/agents": {
        body: NewAgent;
        answer: Agent;
    };
    /** Makes an agent from Markdown, as `export` writes it; what cannot be kept is refused with 422, and nothing is made */
    "POST /v1/agents/import": {
        body: string;
        answer: Agent;
    };
    /** Shows an agent; its `ETag` is what `If-Match` names */
    "GET /v1/agents/{agent}": {
        path: {
            agent: string;
        };
        answer: Agent;
    };
    /** Changes what the body names; with `If-Match`, only if nobody else has changed it since */
    "PATCH /v1/agents/{agent}": {
        path: {
            agent: string;
        };
        body: AgentChange;
        answer: Agent;
    };
    /** Archives an agent: it stays in the list, and is not changed any more */
    "POST /v1/agents/{agent}/archive": {
        path: {
            agent: string;
        };
        body: Nothing;
        answer: Agent;
    };
    /** Shows an agent as Markdown: what it is in front, and its system prompt */
    "GET /v1/agents/{agent}/export": {
        path: {
            agent: string;
        };
        answer: string;
    };
    /** Lists the sessions of an agent in the order of creation */
    "GET /v1/agents/{agent}/sessions": {
        path: {
            agent: string;
        };
        query: {
            /** How many rows the page may have */
            limit?: number;
            /** The `next` of the page before */
            after?: string;
        };
        answer: SessionPage;
    };
    /** Makes a session of an agent */
    "POST /v1/agents/{agent}/sessions": {
        path: {
            agent: string;
        };
        body: NewAgentSession;
        answer: Session;
    };
    /** Lists what humans are asked, over all runs */
    "GET /v1/approvals": {
        query: {
            /** How many rows the page may have */
            limit?: number;
            /** The `next` of the page before */
            after?: string;
        };
        answer: ApprovalPage;
    };
    /** Answers what a run asks a human; the name of the key stands in the log */
    "POST /v1/approvals/{run}": {
        path: {
            run: string;
        };
        body: NewAnswer;
        answer: Answered;
    };
    /** Lists what was changed, by whom and when, the oldest first; each row is chained to the one before it */
    "GET /v1/audit": {
        query: {
            /** How many rows the page may have */
            limit?: number;
            /** Only what comes after this position: the `next` of the page before */
            after?: number;
        };
        answer: AuditPage;
    };
    /** Lists every capability that agents can be given, usable or not */
    "GET /v1/capabilities": {
        answer: Capabilities;
    };
    /** Shows a capability with its tools */
    "GET /v1/capabilities/{capability}": {
        path: {
            capability: string;
        };
        answer: CapabilityDetail;
    };
    /** Says that the server runs; it asks no store */
    "GET /v1/health": {
        answer: Health;
    };
    /** Lists keys in the order of creation, revoked ones too; secrets are in none of them */
    "GET /v1/keys": {
        query: {
            /** How many rows the page may have */
            limit?: number;
            /** The `next` of the page before */
            after?: string;
        };
        answer: KeyPage;
    };
    /** Makes a key; the text that opens it is in this answer and nowhere else */
    "POST /v1/keys": {
        body: NewKey;
        answer: MadeKey;
    };
    /** Revokes a key: from then on it opens nothing; it stays in the list */
    "DELETE /v1/keys/{key}": {
        path: {
            key: string;
        };
        answer: Key;
    };
    /** What this server has done since it started, in the text format of Prometheus */
    "GET /v1/metrics": {
        answer: string;
    };
    /** Lists models and who serves them, each usable or with what is missing; keys are in none of it */
    "GET /v1/models": {
        answer: Models;
    };
    /** This document */
    "GET /v1/openapi.json": {
        answer: Document;
    };
    /** Says whether the stores answer; 503 if one does not */
    "GET /v1/ready": {
        answer: Health;
    };
    /** Lists runs, the one that changed last first; with a filter, a page may be short and still have a next one */
    "GET /v1/runs": {
        query: {
            /** How many rows the page may have */
            limit?: number;
            /** The `next` of the page before */
            after?: string;
            /** of any status if not said */
            status?: "awaiting_plan" | "running" | "waiting" | "completed" | "failed" | "cancelled" | "timed_out" | "interrupted";
            /** Only runs of this ability */
            ability?: string;
            /** Only runs that they started */
            by?: string;
        };
        answer: RunPage;
    };
    /** Starts a run; the same `Idempotency-Key` starts it once, however often it is sent within a week, and `traceparent` makes it part of the caller's trace */
    "POST /v1/runs": {
        body: NewRun;
        answer: RunHead;
    };
    /** Shows how a run stands, with the runs that it calls */
    "GET /v1/runs/{run}": {
        path: {
            run: string;
        };
        answer: Run;
    };
    /** Ends a run; one that somebody else started needs the scope `approve` */
    "POST /v1/runs/{run}/cancel": {
        path: {
            run: string;
        };
        body: Cancel;
        answer: Run;
    };
    /** Lists the events of a run; `after` is the `seq` of the last one that is known */
    "GET /v1/runs/{run}/events": {
        path: {
            run: string;
        };
        query: {
            /** How many rows the page may have */
            limit?: number;
            /** The `seq` of the last event that is known */
            after?: number;
        };
        answer: EventPage;
    };
    /** Tells the events of a run as they happen; `Last-Event-ID` goes on where a stream broke off, 204 says that all is told */
    "GET /v1/runs/{run}/events/stream": {
        path: {
            run: string;
        };
        query: {
            /** The `seq` of the last event that is known */
            after?: number;
        };
        answer: string;
    };
    /** What the steps of a run wrote, step by step; with `follow`, until the run is over */
    "GET /v1/runs/{run}/logs": {
        path: {
            run: string;
        };
        query: {
            /** Only of this step */
            step?: string;
            /** both if not said */
            channel?: "stdout" | "stderr";
            /** Whether to go on until the run is over */
            follow?: boolean;
        };
        answer: string;
    };
    /** Drives an unfinished run on; to decide about a step that was cut short needs the scope `approve` */
    "POST /v1/runs/{run}/resume": {
        path: {
            run: string;
        };
        body: Resume;
        answer: Run;
    };
    /** Lists sessions in the order of creation */
    "GET /v1/sessions": {
        query: {
            /** How many rows the page may have */
            limit?: number;
            /** The `next` of the page before */
            after?: string;
            /** Only sessions of this agent */
            agent?: string;
        };
        answer: SessionPage;
    };
    /** Makes a session of the agent that the body names */
    "POST /v1/sessions": {
        body: NewSession;
        answer: Session;
    };
    /** Shows a session, and whether something is under way in it */
    "GET /v1/sessions/{session}": {
        path: {
            session: string;
        };
        answer: SessionDetail;
    };
    /** Removes a session with everything that was said in it and its files; one that somebody else made needs the scope `approve` */
    "DELETE /v1/sessions/{session}": {
        path: {
            session: string;
        };
        answer: Session;
    };
    /** Calls a session something else */
    "PATCH /v1/sessions/{session}": {
        path: {
            session: string;
        };
        body: SessionChange;
        answer: Session;
    };
    /** Ends the turn that is under way; with `queued`, what waits is not told either */
    "POST /v1/sessions/{session}/cancel": {
        path: {
            session: string;
        };
        body: CancelTurn;
        answer: CancelledTurns;
    };
    /** Lists the events of a session; `after` is the `seq` of the last one that is known */
    "GET /v1/sessions/{session}/events": {
        path: {
            session: string;
        };
        query: {
            /** How many rows the page may have */
            limit?: number;
            /** The `seq` of the last event that is known */
            after?: number;
        };
        answer: EventPage;
    };
    /** Tells the events of a session as they happen, and between them what the model says, piece by piece; `Last-Event-ID` goes on where a stream broke off */
    "GET /v1/sessions/{session}/events/stream": {
        path: {
            session: string;
        };
        query: {
            /** The `seq` of the last event that is known */
            after?: number;
        };
        answer: string;
    };
    /** Reads a file of a session, byte for byte, or lists a folder; the `ETag` of a file is what `If-Match` names */
    "GET /v1/sessions/{session}/fs": {
        path: {
            session: string;
        };
        query: {
            /** Where, from `/` on; the root if not said */
            path?: string;
            /** bytes or json, for a file; bytes if not said */
            format?: string;
            /** How many rows a page may have, 1 to 200; all is told if neither this nor `after` is said */
            limit?: number;
            /** The `next` of the page before */
            after?: string;
        };
        answer: FileOrFolder;
    };
    /** Writes a file and the folders above it; with `If-Match` only if nobody else has changed it, with `If-None-Match: *` only if nothing is there */
    "PUT /v1/sessions/{session}/fs": {
        path: {
            session: string;
        };
        query: {
            /** Where, from `/` on; the root if not said */
            path?: string;
            /** Whether it may not be changed from then on */
            readonly?: boolean;
        };
        body: Uint8Array;
        answer: File;
    };
    /** Deletes a file, or a folder: with `recursive`, all that is in it; with `If-Match` only if nobody else has changed it */
    "DELETE /v1/sessions/{session}/fs": {
        path: {
            session: string;
        };
        query: {
            /** Where, from `/` on; the root if not said */
            path?: string;
            /** Whether a folder goes with all that is in it */
            recursive?: boolean;
        };
        answer: Deleted;
    };
    /** Copies a file, or a folder with all that is in it, to where nothing is */
    "POST /v1/sessions/{session}/fs/copy": {
        path: {
            session: string;
        };
        body: NewPlace;
        answer: File;
    };
    /** Searches the files of a session for a pattern */
    "GET /v1/sessions/{session}/fs/grep": {
        path: {
            session: string;
        };
        query: {
            /** A regular expression */
            pattern?: string;
            /** Only files whose path fits, such as `*.txt` */
            path_pattern?: string;
        };
        answer: Matches;
    };
    /** Moves a file, or a folder with all that is in it, to where nothing is */
    "POST /v1/sessions/{session}/fs/move": {
        path: {
            session: string;
        };
        body: NewPlace;
        answer: File;
    };
    /** Says what is known about a file or a folder */
    "GET /v1/sessions/{session}/fs/stat": {
        path: {
            session: string;
        };
        query: {
            /** Where, from `/` on; the root if not said */
            path?: string;
        };
        answer: File;
    };
    /** Lists what was said to a session, with what came of it; `after` is the `number` of the last one that is known */
    "GET /v1/sessions/{session}/messages": {
        path: {
            session: string;
        };
        query: {
            /** How many rows the page may have */
            limit?: number;
            /** The `number` of the last message that is known */
            after?: number;
        };
        answer: MessagePage;
    };
    /** Says something to a session: a turn begins, at once or when those before it are over; the same `Idempotency-Key` counts once */
    "POST /v1/sessions/{session}/messages": {
        path: {
            session: string;
        };
        body: NewMessage;
        answer: Message;
    };
    /** Shows a message and what came of it */
    "GET /v1/sessions/{session}/messages/{message}": {
        path: {
            session: string;
            message: string;
        };
        answer: Message;
    };
    /** Lists the skills of every client, those that cannot be used too, with the reason */
    "GET /v1/skills": {
        query: {
            /** How many rows a page may have, 1 to 200; all is told if neither this nor `after` is said */
            limit?: number;
            /** The `next` of the page before */
            after?: string;
        };
        answer: Skills;
    };
    /** Shows a skill: whether it can be used, what it requires, whether it is trusted, and what it says */
    "GET /v1/skills/{skill}": {
        path: {
            skill: string;
        };
        answer: Skill;
    };
    /** Says which version of abide answers */
    "GET /v1/version": {
        answer: Version;
    };
}
