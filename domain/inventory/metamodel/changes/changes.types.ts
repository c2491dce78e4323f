import Type from 'typebox';
import { EstateError } from '../../../../platform/errors.ts';
import { type Ctx, checkIfMatch, etagOf, type Work } from '../../../kernel/context.ts';
import { type BufferedEvents, bufferEvents } from '../../../kernel/events/events.buffer.ts';
import type { JsonText } from '../../../kernel/lists/lists.types.ts';
import type { Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { FieldTypeName } from '../../../kernel/metamodel/metamodel.types.ts';
import { requireGrantable } from '../../../kernel/permissions/grants.ts';
import { appPermissionOf, type CardPermission } from '../../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../../kernel/permissions/policy.ts';
import { arrayOf, BooleanOf, Choice, Count, type StaticOf } from '../../../kernel/shapes.ts';
import { breaks, brokenConsumers, type FoundConsumers, listed, noConsumers } from '../usage/consumers.ts';

/** One change of the metamodel during its execution: in a request, in a job, or as the undo of another change. */
export interface ChangeRun {
  /** The command that has the exclusive metamodel lock; its `metamodel` is the changed one as soon as that is written. */
  work: Work;
  ctx: Ctx;
  /** The language of the labels in the response. */
  language: string;
  /** The maximum number of cards and relations that may be written here; beyond it the change becomes a job. */
  limit: number;
  /** Nothing is written: the response reports the impact. */
  dryRun: boolean;
  /** Deletes values that do not fit a changed field, and breaks consumers, instead of refusing the change. */
  force: boolean;
  /** The ETag that the object must still have: a job changes the version that its request has read. */
  expected: string | null;
  /** The ETag of the object as this run found it. */
  seen: string | null;
  /** Buffers the events of a change that writes much, from its first batch on; see {@link changeWork}. */
  held: BufferedEvents | null;
  /**
   * Card types whose data quality is computed after the change is committed; null if it is computed with the change.
   */
  deferred: string[] | null;
  /** The consumers that the change breaks, once it is written. */
  broken: FoundConsumers;
  /** Those of them that it breaks without an announced removal whose day has come: without `force` they prevent it. */
  unannounced: FoundConsumers;
  /** Reports how many cards and relations are done; throws if the job must stop. */
  progress(done: number, total: number): void;
}

const FEW = 500;

/** The work for a number of rows: the events of many rows are buffered on disk until the end. */
export async function changeWork(run: ChangeRun, rows: number): Promise<Work> {
  if (rows > FEW) run.held ??= await bufferEvents(run.work, run.ctx);
  return run.held?.work ?? run.work;
}

/** The change writes more rows than a request may. */
export class LargeChange extends Error {
  readonly rows: number;
  constructor(rows: number) {
    super(`${rows} cards and relations would be written`);
    this.rows = rows;
  }
}

/** How many cards and relations have values that a change removes, and what happens to the values. */
export const impact = {
  dry_run: Type.Literal(true),
  cards: Type.Integer({ minimum: 0, description: 'Cards whose values or data quality are computed again' }),
  relations: Type.Integer({ minimum: 0, description: 'Changed or deleted' }),
  removed_fields: arrayOf({ field_key: Type.String(), affected: Count }),
  removed_options: arrayOf({ field_key: Type.String(), option_key: Type.String(), affected: Count }),
  removed_subtypes: arrayOf({ subtype_key: Type.String(), affected: Count }),
  changed_fields: arrayOf({
    field_key: Type.String(),
    from: FieldTypeName,
    to: FieldTypeName,
    affected: Count,
    converted: Count,
    unconvertible: Count,
    // Values that do not fit; without the values for callers who may not see them.
    examples: arrayOf({ id: Type.String(), value: Type.Optional(Type.Unknown()) }),
  }),
  // Cards without a value, and cards without a relation on that side of the relation type.
  required_fields: arrayOf({ field_key: Type.String(), missing: Count }),
  mandatory_sides: arrayOf({ side: Choice(['source', 'target']), missing: Count }),
  ...brokenConsumers,
  needs_force: BooleanOf(
    'Values cannot be converted, or consumers break whose parts are not past their `removal`: refused without `force`',
  ),
  as_job: BooleanOf('Whether a job executes the change; the response names it'),
};
export type Impact = StaticOf<typeof impact>;

export const noImpact: Impact = {
  dry_run: true,
  cards: 0,
  relations: 0,
  removed_fields: [],
  removed_options: [],
  removed_subtypes: [],
  changed_fields: [],
  required_fields: [],
  mandatory_sides: [],
  ...listed(noConsumers),
  needs_force: false,
  as_job: false,
};

/** The members of an impact about consumers. */
export const brokenBy = ({ broken, unannounced }: ChangeRun) => ({
  ...listed(broken),
  needs_force: breaks(unannounced),
});

/**
 * Compares the locked object with the version that the client, or the request that started the job, has read.
 * @throws EstateError `precondition_failed`.
 */
export async function checkSeen(run: ChangeRun, read: () => Promise<JsonText>): Promise<void> {
  const text = await read();
  checkIfMatch(run.ctx, text);
  run.seen = etagOf(text);
  if (run.expected === null || run.expected === run.seen) return;
  const detail = 'The object has changed since the request; send the request again.';
  throw new EstateError('precondition_failed', detail);
}

/** The cost fields of a type. */
interface Costly {
  costKeys: readonly string[];
}

/**
 * Refuses a change of the metamodel that grants rights which the caller does not have: a stakeholder role that gains
 * rights on the cards of a type needs the application permissions for them. Changing the type of a cost field, which makes
 * its values visible to all users, and removing it, which deletes them, needs `costs.view`.
 * @throws EstateError `forbidden` naming the first missing permission.
 */
export function requireChangeRights({ caller }: Ctx, before: Metamodel, after: Metamodel): void {
  for (const [key, type] of after.cardTypes) {
    const old = before.cardTypes.get(key);
    if (!old) continue;
    const rights = new Map(old.stakeholderRoles.map((role) => [role.key, role.permissions]));
    for (const { key: role, permissions } of type.stakeholderRoles) {
      const gained = ([...permissions] as CardPermission[]).filter((right) => !rights.get(role)?.has(right));
      requireGrantable(caller, Object.fromEntries(gained.map((right) => [appPermissionOf[right], true])));
    }
  }
  if (endsCosts(before.cardTypes, after.cardTypes) || endsCosts(before.relationTypes, after.relationTypes)) {
    requirePermission(caller, 'costs.view');
  }
}

/** Whether a cost field is removed or is no longer a cost. */
function endsCosts(before: ReadonlyMap<string, Costly>, after: ReadonlyMap<string, Costly>): boolean {
  return [...after].some(([key, { costKeys }]) =>
    before.get(key)?.costKeys.some((field) => !costKeys.includes(field)),
  );
}
