import { forbidden, may } from '../../domain/access/policy.ts';
import type { Ctx } from '../../domain/context.ts';
import { prepareFilter } from '../../domain/filters/filters.prepare.ts';
import type { ExportRequest } from '../../domain/jobs/kinds/export.ts';
import { invalidField } from '../../platform/errors.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import type { CardSelection } from './extraction.cards.ts';
import { cardColumns, chooseColumns, relationColumns } from './extraction.columns.ts';
import type { Column } from './extraction.types.ts';

/** A checked request: what is selected and which columns it has. */
export interface ExtractionPlan {
  request: ExportRequest;
  cards: CardSelection;
  relationTypes: string[];
  columns: Column[];
}

/** Whether the caller may see any cost value at all: by permission, or by a role on some card. */
export async function seesSomeCosts(ctx: Ctx): Promise<boolean> {
  if (may(ctx.caller, 'costs.view')) return true;
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
 * @throws EstateError `validation_failed` by field, `forbidden` for a filter over what the caller may not see.
 */
export async function planExtraction(ctx: Ctx, request: ExportRequest): Promise<ExtractionPlan> {
  const { metamodel } = ctx;
  const ofCards = request.kind === 'cards';
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
  return { request, cards, relationTypes, columns: chooseColumns(all, request.columns) };
}

/** The feed position up to which the snapshot has seen everything. */
export async function snapshotPosition(snapshot: Snapshot): Promise<string> {
  const [row] = await snapshot.query<{ position: string }>(
    `select greatest(coalesce((select max(position) from events), 0),
       coalesce((select (value #>> '{}')::bigint from settings where key = 'events.purged_through'), 0))::text as position`,
  );
  return row!.position;
}
