import type { Sql } from '../../platform/database.ts';
import type { ConsumerKind, Ctx, DeletedCard, DeletedUser, Extensions, Work } from './context.ts';
import type { JobDefinition } from './jobs/jobs.define.ts';
import { cardReferencesOf, type Resource, undoSpecOf } from './resources/resource.ts';
import type { SettingValues } from './settings/settings.read.ts';
import type { UndoRight, UndoSpec } from './undo/undo.types.ts';

/** The retention periods of the settings. */
export type Retention = SettingValues['retention'];

/** Deletes one batch of expired rows; called again until it returns 0. @returns how many rows were deleted. */
type Cleanup = (sql: Sql, retention: Retention) => Promise<number>;

/** The maximum number of rows that one call of a {@link Cleanup} deletes. */
export const CLEANUP_BATCH = 5_000;

/** Deletes rows of a table that match an SQL condition, which may use one of the retention settings. */
export function deleteExpired(
  table: string,
  condition: string,
  value?: (retention: Retention) => number,
): Cleanup {
  return async (sql, retention) => {
    const { rowCount } = await sql.raw(
      `delete from ${table} where ctid in (select ctid from ${table} where ${condition} limit ${CLEANUP_BATCH})`,
      value ? [value(retention)] : [],
    );
    return rowCount as number;
  };
}

/**
 * The operations that a part of the domain adds to lower contexts. Each part declares its own extension; the
 * application composes them (`domain/app`), and every command gets the composition as `work.extensions`.
 */
export interface Extension {
  resources?: readonly Resource[];
  /** How events are undone that are not events of a resource's rows. */
  undo?: readonly UndoSpec[];
  /** The rights that undoing them needs, by event type or by its first part. */
  undoRights?: Readonly<Record<string, UndoRight>>;
  jobs?: readonly JobDefinition[];
  /** Stored objects that refer to the metamodel by keys. */
  consumers?: readonly ConsumerKind[];

  /** Clean-ups by the names under which the housekeeping job counts them. */
  cleanups?: Readonly<Record<string, Cleanup>>;
  /** Deletes the rows that belong to locked cards that are going to be deleted, with an event for each row. */
  deleteWithCards?(work: Work, cards: readonly DeletedCard[]): Promise<void>;
  /** Deletes or updates the rows that belong to locked users who are going to be deleted, with an event for each row. */
  deleteWithUsers?(work: Work, ctx: Ctx, users: readonly DeletedUser[]): Promise<void>;
  /** Called for accounts that were deactivated, reactivated or deleted, or whose rights have changed. */
  userRightsChanged?(work: Work, ctx: Ctx, userIds: readonly string[]): Promise<void>;
  /**
   * Called when stakeholders of cards of a type have changed; without `cardIds`, when role definitions of the type have
   * changed.
   */
  stakeholdersChanged?(work: Work, cardType: string, cardIds?: readonly string[]): Promise<void>;
}

/** Composes extensions: each hook calls the hooks of all extensions, in the given order. */
export function composeExtensions(list: readonly Extension[]): Extensions {
  return {
    jobs: list.flatMap(({ jobs }) => jobs ?? []),
    cardReferences: list.flatMap(({ resources = [] }) => resources.flatMap(cardReferencesOf)),
    consumers: list.flatMap(({ consumers = [] }) => consumers),
    async deleteWithCards(work, cards) {
      for (const extension of list) await extension.deleteWithCards?.(work, cards);
    },
    async deleteWithUsers(work, ctx, users) {
      for (const extension of list) await extension.deleteWithUsers?.(work, ctx, users);
    },
    async userRightsChanged(work, ctx, userIds) {
      if (userIds.length === 0) return;
      for (const extension of list) await extension.userRightsChanged?.(work, ctx, userIds);
    },
    async stakeholdersChanged(work, cardType, cardIds) {
      for (const extension of list) await extension.stakeholdersChanged?.(work, cardType, cardIds);
    },
  };
}

/** How events are undone, from all extensions. */
export function undoSpecsOf(list: readonly Extension[]): UndoSpec[] {
  return list.flatMap(({ resources = [], undo = [] }) => [
    ...undo,
    ...resources.flatMap((resource) => undoSpecOf(resource) ?? []),
  ]);
}
