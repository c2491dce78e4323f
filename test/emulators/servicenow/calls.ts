/** What a request asks for. */
export type CallKind =
  | 'list'
  | 'one'
  | 'create'
  | 'update'
  | 'delete'
  | 'import'
  | 'reconcile'
  | 'batch'
  | 'token';

/** One request as it was answered; status 0 without an answer. */
export interface Call {
  kind: CallKind;
  table: string;
  user: string;
  /** By the clock of the emulator. */
  at: number;
  status: number;
  query: string;
}
