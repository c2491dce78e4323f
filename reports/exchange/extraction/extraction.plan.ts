import type { ExportRequest } from '../../../domain/exchange/exports/export.job.ts';
import { prepareFilter } from '../../../domain/inventory/filters/filters.prepare.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { checkPosition, type FeedEnds, PURGED_THROUGH } from '../../../domain/kernel/events/changes.ts';
import { forbidden, inScope, may } from '../../../domain/kernel/permissions/policy.ts';
import { invalidField } from '../../../platform/errors.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Column } from '../../kernel/formats/formats.types.ts';
import { allRemain, changedCards, onlyOwn } from './changes.cards.ts';
import { MOST_FOUND, worthwhile } from './changes.found.ts';
import { lookBack } from './changes.moved.ts';
import { changedRelations } from './changes.relations.ts';
import { cardChanges, checkAfter, relationTypesTold } from './changes.since.ts';
import type { CardSelection } from './extraction.cards.source.ts';
import { cardColumns, chooseColumns, relationColumns, STAKEHOLDERS } from './extraction.columns.ts';
import type { RelationSelection } from './extraction.relations.source.ts';
import { changeColumns } from './extraction.rows.ts';

/** A checked request: what is selected and which columns it has. */
export interface ExtractionPlan {
  request: ExportRequest;
  cards: CardSelection;
  relations: RelationSelection;
  columns: Column[];
  /** Where only what has changed is wanted: looks on the snapshot for the statement that finds it. */
  changes?: (snapshot: Snapshot) => Promise<Pick<CardSelection, 'changes' | 'remain' | 'found'>>;
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
 * @throws EstateError `validation_failed` by field, `forbidden` for a filter or a column of what the caller may not see,
 * `position_expired`.
 */
export async function planExtraction(ctx: Ctx, request: ExportRequest): Promise<ExtractionPlan> {
  const { metamodel } = ctx;
  const ofCards = request.kind === 'cards';
  if (request.include.length > 0 && request.after !== undefined) {
    throw invalidField('include', 'not_with_after', 'is not offered for what has changed since a position');
  }
  if (request.include.length > 0 && (request.format !== 'xlsx' || !ofCards)) {
    throw invalidField(
      'include',
      'only_xlsx',
      'is offered for cards in xlsx; export relations by kind=relations',
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
  const { after, since } = await checkAfter(ctx, request.after);
  return {
    request,
    cards,
    relations,
    changes: async (snapshot) => {
      if (ofCards && since <= MOST_FOUND) snapshot.prepareParts(worthwhile(since));
      const { kinds, moved, own } = await lookBack(snapshot, ctx, after, ofCards);
      const changes = cardChanges(request, { after, types: cards.types, moved });
      if (ofCards) {
        const found = onlyOwn(changes, kinds) ? own : undefined;
        return { changes: changedCards(changes, kinds), remain: allRemain(changes, kinds), found };
      }
      const told = request.types.length > 0 ? relationTypes : relationTypesTold(ctx, moved);
      return { changes: changedRelations(ctx, changes, told, kinds) };
    },
    // a row that is gone has nothing else
    columns: [...idColumns(columns), ...columns, ...changeColumns],
  };
}

/** The columns that name a row, where they were not chosen. */
function idColumns(columns: Column[]): Column[] {
  const named: Column[] = [
    { header: 'id', type: 'key' },
    { header: 'type', type: 'text' },
  ];
  return named.filter(({ header }) => !columns.some((column) => column.header === header));
}

/**
 * The feed position up to which the snapshot has seen everything.
 * @throws EstateError `position_expired` where events after the one that is gone on from are kept no more.
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
