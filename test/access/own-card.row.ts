import type { Call } from './matrix.row.ts';
import type { World } from './world.ts';

/** An operation that a role on the card may allow. */
export interface CardRow {
  operation: string;
  /** The type of the card; `Application` unless given. */
  type?: string;
  call(world: World, card: string): Call | Promise<Call>;
}
