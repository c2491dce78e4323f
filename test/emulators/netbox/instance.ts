import type { Clock } from '../../../integrations/exchange/itsm/remote.ts';
import type { CallKind, Faults } from './faults.ts';
import type { Row, Store } from './store.ts';

/** An instance as its parts share it. */
export interface NetBox {
  base: string;
  clock: Clock;
  /** The value of the header `API-Version`. */
  version: string;
  /** MAX_PAGE_SIZE of the instance. */
  maxPageSize: number;
  store: Store;
  faults: Faults;
  /** Objects that the permissions of the account leave out. */
  hides(table: string, row: Row): boolean;
  /** Whether the account has an action on a table: view, add, change, delete. */
  may(table: string, action: string): boolean;
  /** What `may` denies, such as `add dcim/devices`. */
  denied: Set<string>;
  /** The valid tokens, as the header has them. */
  tokens: Set<string>;
  calls: { kind: CallKind; path: string; query: URLSearchParams }[];
  close(): Promise<void>;
}
