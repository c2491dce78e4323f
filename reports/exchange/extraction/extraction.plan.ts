import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import { prepareFilter } from '../../../domain/inventory/filters/filters.prepare.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import {
  checkPosition,
  type FeedEnds,
  feedEnds,
  PURGED_THROUGH,
} from '../../../domain/kernel/events/changes.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { forbidden, inScope, may, requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { invalidField } from '../../../platform/errors.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Column } from '../../kernel/formats/formats.types.ts';
import { changedSince } from './changes.ts';
import type { CardSelection } from './extraction.cards.ts';
import { cardColumns, chooseColumns, relationColumns, STAKEHOLDERS } from './extraction.columns.ts';
import type { RelationSelection } from './extraction.relations.ts';
import { changeColumns } from './extraction.rows.ts';

/** A checked request: the selected objects and the columns. */
export interface ExtractionPlan {
  request: ExportRequest;
  cards: CardSelection;
  relations: RelationSelection;
  columns: Column[];
  /** With `after`: the statement that finds what may have changed, see `RowSource`. */
  findChanged?: (snapshot: Snapshot) => Promise<Fragment>;
}

/** Whether the caller may see any cost value at all: by permission, or by a role on some card. */
export async function seesSomeCosts(ctx: Ctx): Promise<boolean> {
  if (may(ctx.caller, 'costs.view')) return true;
  if (!inScope(ctx.caller, 'costs.view')) return false;
  return Boolean(await ctx.db('stakeholders').where({ user_id: ctx.caller.userId }).first('id'));
}

/** The named types, or all visible ones. @throws EstateError naming one that is unknown or hidden. */
function chooseTypes(given: string[], visible: string[]): string[] {
  if (given.length === 0) return visible;
  for (const [n, type] of given.entries()) {
    if (!visible.includes(type))
      throw invalidField(`types.${n}`, 'unknown_type', `there is no visible type "${type}"`);
  }
  return [...new Set(given)];
}

/**
 * Checks a request against the metamodel and the caller's rights.
 * @throws EstateError `validation_failed` by field, `forbidden` for a filter or a column that the caller may not see,
 * `position_expired`.
 */
export async function planExtraction(ctx: Ctx, request: ExportRequest): Promise<ExtractionPlan> {
  const { metamodel } = ctx;
  const ofCards = request.kind === 'cards';
  if (request.include.length > 0 && request.after !== undefined) {
    throw invalidField('include', 'not_with_after', 'is not supported with after');
  }
  if (request.include.length > 0 && (request.format !== 'xlsx' || !ofCards)) {
    throw invalidField(
      'include',
      'only_xlsx',
      'is only supported for cards in xlsx; export relations by kind=relations',
    );
  }
  if ((!ofCards || request.include.includes('relations')) && !may(ctx.caller, 'relations.view')) {
    throw forbidden('relations.view');
  }
  if (request.columns.includes(STAKEHOLDERS) && !may(ctx.caller, 'stakeholders.view')) {
    throw forbidden('stakeholders.view');
  }
  const filter = await prepareFilter(ctx, request.filter);
  const costs = await seesSomeCosts(ctx);
  const cards: CardSelection = {
    types: ofCards ? chooseTypes(request.types, metamodel.visibleTypes) : metamodel.visibleTypes,
    conditions: filter ? [filter] : [],
  };
  const relationTypes = ofCards
    ? metamodel.visibleRelationTypes
    : chooseTypes(request.types, metamodel.visibleRelationTypes);
  const all = ofCards
    ? cardColumns(ctx, cards.types, request.profile, costs)
    : relationColumns(ctx, relationTypes, request.profile, costs);
  const columns = chooseColumns(all, request.columns);
  const relations: RelationSelection = { types: relationTypes, cards };
  if (request.after === undefined) return { request, cards, relations, columns };
  // ids of deleted objects are shown, as in the change feed
  requirePermission(ctx.caller, 'inventory.view');
  const after = checkPosition(request.after, await feedEnds(ctx.db), 'after');
  return {
    request,
    cards,
    relations,
    findChanged: (snapshot) =>
      changedSince(snapshot, ctx, request, { after, cardTypes: cards.types, relationTypes }),
    // a deleted object has no other columns
    columns: [...idColumns(columns), ...columns, ...changeColumns],
  };
}

/** The columns that identify a row, unless they were chosen. */
function idColumns(columns: Column[]): Column[] {
  const named: Column[] = [
    { header: 'id', type: 'key' },
    { header: 'type', type: 'text' },
  ];
  return named.filter(({ header }) => !columns.some((column) => column.header === header));
}

/**
 * The feed position up to which the snapshot contains every change.
 * @throws EstateError `position_expired` when events after `after` are no longer stored.
 */
export async function snapshotPosition(snapshot: Snapshot, after?: string): Promise<string> {
  const [row] = await snapshot.query<FeedEnds>(
    `select coalesce((select (value #>> '{}')::bigint from settings where key = $1), 0) as "purgedThrough",
       coalesce((select max(position) from events), 0) as newest`,
    [PURGED_THROUGH],
  );
  const ends = { ...row!, newest: Math.max(row!.newest, row!.purgedThrough) };
  if (after !== undefined) checkPosition(after, ends, 'after');
  return String(ends.newest);
}
