/** What the server is sent and answers, made from schema/openapi.json by `cargo xtask generated`. */
export interface Abilities {
    abilities: {
        name: string;
        status: string;
        [name: string]: unknown;
    }[];
    enabled: boolean;
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
export interface AgentChange {
    /** Earlier ones speak first */
    capabilities?: string[];
    description?: string | null;
    model?: string | null;
    name?: string | null;
    system_prompt?: string | null;
}
export interface AgentPage {
    items: Agent[];
    /** The `after` of the next page; null at the end */
    next: string | null;
}
export interface Answered {
    by: string;
    run: string;
    status: string;
}
export interface Approval {
    ability: string;
    approvers: string[];
    deadline: number | null;
    kind: "plan" | "approval" | "failure";
    options: {
        label: string;
        value: string;
    }[];
    parent: string | null;
    prompt: string;
    run: string;
    started_by: string;
    step: string | null;
}
export interface ApprovalPage {
    items: Approval[];
    /** The `after` of the next page; null at the end */
    next: string | null;
}
export interface Cancel {
    reason?: string | null;
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
export interface NewAgent {
    /** Earlier ones speak first */
    capabilities?: string[];
    description?: string | null;
    model?: string | null;
    name: string;
    system_prompt?: string | null;
}
export interface NewAnswer {
    /** The `value` of an option, or `rejected` */
    answer: string;
    comment?: string | null;
    /** The step that asks; without one the plan is answered */
    step?: string | null;
}
export interface NewKey {
    name: string;
    scopes: ("read" | "run" | "approve" | "admin")[];
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
export type Nothing = Record<string, never>;
export type Plan = Record<string, unknown>;
export interface Problem {
    /** Never changes its meaning */
    code: "bad_request" | "bad_parameter" | "bad_body" | "no_key" | "wrong_key" | "no_scope" | "foreign_origin" | "foreign_host" | "no_route" | "no_method" | "not_found" | "not_yours" | "refused" | "reused" | "changed" | "capability" | "too_slow" | "too_long" | "not_json" | "invalid" | "too_many" | "internal" | "unavailable";
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
export interface Version {
    api: string;
    name: string;
    version: string;
}
/** Every operation by its method and address. */
export interface Operations {
    /** Lists the abilities of the project, broken and shadowed ones too */
    "GET /v1/abilities": {
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
            /** json, text, mermaid, dot or svg; json if not said */
            format?: string;
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
            /** active or archived; both if not said */
            status?: string;
        };
        answer: AgentPage;
    };
    /** Makes an agent; a capability that it could not have is refused with 422, and nothing is made */
    "POST /v1/agents": {
        body: NewAgent;
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
            /** Only runs of this status */
            status?: string;
            /** Only runs of this ability */
            ability?: string;
            /** Only runs that they started */
            by?: string;
        };
        answer: RunPage;
    };
    /** Starts a run; the same `Idempotency-Key` starts it once, however often it is sent within a week */
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
            /** stdout or stderr; both if not said */
            channel?: string;
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
    /** Says which version of abide answers */
    "GET /v1/version": {
        answer: Version;
    };
}
