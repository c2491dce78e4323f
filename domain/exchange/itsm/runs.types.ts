import type { SyncValue } from './mappings.types.ts';

/** Which sides a run may write on. */
export type RunDirection = 'pull' | 'push' | 'bidirectional';

/** What a run was started by. */
export type RunTrigger = 'manual' | 'schedule' | 'changes' | 'undo';

type RunStatus = 'queued' | 'running' | 'review' | 'completed' | 'failed' | 'cancelled' | 'superseded';
export type RunStage = 'read' | 'match' | 'plan' | 'review' | 'apply' | 'verify' | 'done';

/** Figures of a run by name: what was read, what the plan holds, what became of it, and seconds by stage. */
export interface RunStats {
  fetched?: number;
  relations_fetched?: number;
  /** Rows that have ended. */
  processed?: number;
  created?: number;
  updated?: number;
  deleted?: number;
  relations_created?: number;
  relations_deleted?: number;
  /** Relations at records of mappings that do not run now: they are made or taken away once those do. */
  relations_waiting?: number;
  skipped?: number;
  /** Rows of the plan that repeat a question which was open before with the same values. */
  already_open?: number;
  errors?: number;
  /** Rows of the plan by action. */
  planned?: Record<string, number>;
  /** Those of them that were applied. */
  applied?: Record<string, number>;
  /** Rows by how they ended. */
  outcomes?: Record<string, number>;
  /** Things that were not as an applied row should have left them. */
  findings?: number;
  seconds?: Partial<Record<RunStage, number>>;
  /** Requests that the account has left, as the remote told at the end of the last stage; null where it does not tell. */
  budget?: { limit: number; remaining: number; resets_at: string } | null;
}

/** A run as it is stored. */
export interface RunRow {
  id: string;
  connection_id: string;
  mapping_id: string;
  job_id: string | null;
  direction: RunDirection;
  trigger: RunTrigger;
  status: RunStatus;
  stage: RunStage;
  complete: boolean;
  auto_apply: boolean;
  mapping: unknown;
  checkpoint: unknown;
  stopped: string | null;
  stopped_overruled_by: string | null;
  closing: unknown;
  /** RFC 3339. */
  plan_made_at: string | null;
  stats: RunStats;
  remote_calls: number;
  undo_of: string | null;
  created_by: string | null;
}

/** A record as a connector gives it. */
export interface KeptRecord {
  table: string;
  id: string;
  fields: Record<string, { value: SyncValue }>;
  /** RFC 3339. */
  updatedAt: string;
  deleted?: boolean;
}

/** What a run has heard of a record. */
export interface HeardRecord {
  remote_id: string;
  /** Null: it says nothing new, or was not seen. */
  record: KeptRecord | null;
  /** Pages of the reading have shown it. */
  shown: boolean;
  look: 'there' | 'gone' | 'unknown' | null;
  tombstone: { at: string; mergedInto?: string } | null;
  /** The class of a record that a look did not find in its table, but in another one. */
  reclassified: string | null;
}

/** A relation outside as it is told there. */
export interface RemoteLinkRow {
  remote_relation_id: string;
  remote_type: string;
  from_id: string;
  to_id: string;
}
