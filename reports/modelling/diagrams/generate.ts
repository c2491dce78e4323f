import type { Ctx } from '../../../domain/kernel/context.ts';
import { requirePermission } from '../../../domain/kernel/permissions/policy.ts';
import { invalidField } from '../../../platform/errors.ts';
import { typeOf } from '../../kernel/report.params.ts';
import { drawnXml, type RenderContext } from './generate.drawing.ts';
import { layered } from './generate.layers.ts';
import { readAround, readGroups } from './generate.read.ts';
import { shelved } from './generate.shelves.ts';

export interface GenerateRequest {
  view: 'dependencies' | 'landscape';
  /** Of dependencies: the card in the middle. */
  card_id?: string;
  depth: number;
  direction: 'both' | 'outgoing' | 'incoming';
  /** Keys of relation types; none: all. */
  relation_types: string[];
  /** Of a landscape: the type of its cards, and of those that they are grouped by. */
  type?: string;
  group_by?: string;
  filter?: string;
  max_cards: number;
}

export interface GeneratedDrawing {
  view: 'dependencies' | 'landscape';
  title: string;
  xml: string;
  card_ids: string[];
  relation_count: number;
  /** Whether there are more cards than were asked for. */
  truncated: boolean;
}

/**
 * Draws what a query finds: the dependencies around a card, or the cards of a type grouped by those of another.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`.
 */
export async function generateDrawing(ctx: Ctx, request: GenerateRequest): Promise<GeneratedDrawing> {
  requirePermission(ctx.caller, 'inventory.view');
  requirePermission(ctx.caller, 'relations.view');
  return request.view === 'dependencies' ? await dependencies(ctx, request) : await landscape(ctx, request);
}

async function dependencies(ctx: Ctx, request: GenerateRequest): Promise<GeneratedDrawing> {
  const { card_id, depth, direction, filter, max_cards: most } = request;
  if (card_id === undefined) throw invalidField('card_id', 'required', 'says which card is in the middle');
  refuseOthers(request, ['type', 'group_by']);
  const known = ctx.metamodel.visibleRelationTypes;
  const unknown = request.relation_types.findIndex((key) => !known.includes(key));
  if (unknown >= 0) {
    throw invalidField(`relation_types.${unknown}`, 'unknown_value', 'is no relation type');
  }
  const relations = request.relation_types.length > 0 ? request.relation_types : known;
  const found = await readAround(ctx, { card_id, depth, direction, relations, filter, most });
  const title = `Dependencies around ${found.cards[0]!.name}`;
  return {
    view: 'dependencies',
    title,
    xml: drawnXml(layered(found.cards, found.relations), renderContextOf(ctx, title)),
    card_ids: found.cards.map(({ id }) => id),
    relation_count: found.relations.length,
    truncated: found.truncated,
  };
}

async function landscape(ctx: Ctx, request: GenerateRequest): Promise<GeneratedDrawing> {
  const { type, group_by, filter, max_cards: most } = request;
  if (type === undefined) throw invalidField('type', 'required', 'says which cards are drawn');
  if (group_by === undefined)
    throw invalidField('group_by', 'required', 'says by which cards they are grouped');
  refuseOthers(request, ['card_id']);
  const [kind, frame] = [typeOf(ctx, 'type', type), typeOf(ctx, 'group_by', group_by)];
  const rest = `No ${frame.label}`;
  const { groups, truncated } = await readGroups(ctx, { type, group_by, filter, most, rest });
  const title = `${kind.label} by ${frame.label}`;
  const cards = groups.flatMap((group) => [...(group.card ? [group.card] : []), ...group.cards]);
  return {
    view: 'landscape',
    title,
    xml: drawnXml(shelved(groups), renderContextOf(ctx, title)),
    card_ids: [...new Set(cards.map(({ id }) => id))],
    relation_count: 0,
    truncated,
  };
}

/** @throws EstateError naming a member that says nothing of the view. */
function refuseOthers(request: GenerateRequest, members: ('card_id' | 'type' | 'group_by')[]): void {
  const other = members.find((member) => request[member] !== undefined);
  if (other) throw invalidField(other, 'not_offered', `says nothing of the view ${request.view}`);
}

const GREY = '#607d8b';

function renderContextOf({ metamodel }: Ctx, title: string): RenderContext {
  const type = (key: string) => metamodel.cardTypes.get(key);
  return {
    title,
    color: (key) => (/^#[0-9a-f]{6}$/i.test(type(key)?.color ?? '') ? type(key)!.color : GREY),
    typeLabel: (key) => type(key)?.label ?? key,
    relationLabel: (key) => metamodel.relationTypes.get(key)?.label ?? key,
  };
}
