import { embed, query } from '../../../platform/database.ts';
import { type FieldError, notFound } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { may } from '../../kernel/permissions/policy.ts';
import type { AiSettings } from './ai.provider.ts';

/** The members of a card, besides its attributes, that can be sent to a provider. Id and type are always sent. */
const members = ['name', 'alias', 'description', 'subtype', 'lifecycle'] as const;
/** Every attribute except costs. */
const ALL = 'attributes.*';
/** The key for all other types. */
const OTHERS = '*';

/** A card with the fields that may be sent to a provider. */
export interface OutgoingCard {
  id: string;
  type: string;
  name?: string;
  alias?: string;
  description?: string;
  subtype?: string;
  lifecycle?: Record<string, string>;
  attributes?: Record<string, unknown>;
}

/** A card with all fields that can be sent. */
interface SendableCard {
  id: string;
  type: string;
  name: string;
  alias: string | null;
  description: string | null;
  subtype: string | null;
  lifecycle: Record<string, string | null>;
  attributes: Record<string, unknown>;
}

/** Whether a field of cards of the type may be sent: `description`, `attributes.<key>`. Costs must be listed by name. */
export function isFieldAllowed(settings: AiSettings, type: CardType, field: string): boolean {
  const fields = settings.outgoing_fields[type.key] ?? settings.outgoing_fields[OTHERS] ?? [];
  if (fields.includes(field)) return true;
  const key = field.startsWith('attributes.') ? field.slice('attributes.'.length) : undefined;
  return key !== undefined && fields.includes(ALL) && !type.costKeys.includes(key);
}

/**
 * The fields of a card that may be sent: those in the settings, without empty ones and costs that the caller may not
 * see.
 */
function outgoingCard(ctx: Ctx, settings: AiSettings, card: SendableCard): OutgoingCard {
  const type = ctx.metamodel.cardTypes.get(card.type);
  const outgoing: OutgoingCard = { id: card.id, type: card.type };
  if (!type) return outgoing;
  const costs = may(ctx.caller, 'costs.view');
  for (const member of members) {
    const value = card[member];
    if (filled(value) && isFieldAllowed(settings, type, member)) Object.assign(outgoing, { [member]: value });
  }
  const attributes = Object.entries(card.attributes).filter(
    ([key, value]) =>
      filled(value) &&
      isFieldAllowed(settings, type, `attributes.${key}`) &&
      (costs || !type.costKeys.includes(key)),
  );
  if (attributes.length > 0) outgoing.attributes = Object.fromEntries(attributes);
  return outgoing;
}

/** The given cards that are visible to the caller, in the order of the ids, with the fields that may be sent. */
export async function readOutgoingCards(
  ctx: Ctx,
  settings: AiSettings,
  ids: readonly string[],
): Promise<OutgoingCard[]> {
  const rows = await query(ctx.db).rows`select c.id, c.type, c.name, c.alias, c.description, c.subtype,
    c.lifecycle, c.attributes
     from cards c where c.id = any(${ids}::uuid[]) and ${embed(visibleCards(ctx))}
     order by array_position(${ids}::uuid[], c.id)`;
  return (rows as SendableCard[]).map((card) => outgoingCard(ctx, settings, card));
}

/** The errors of lists of fields that may be sent, by index. */
export function outgoingErrors(metamodel: Metamodel, lists: AiSettings['outgoing_fields']): FieldError[] {
  const known = (types: Iterable<CardType>) =>
    new Set<string>([
      ...members,
      ALL,
      ...[...types].flatMap(({ fields }) => [...fields.keys()].map((key) => `attributes.${key}`)),
    ]);
  return Object.entries(lists).flatMap(([key, fields]) => {
    const type = metamodel.cardTypes.get(key);
    if (key !== OTHERS && !type) {
      return [{ field: `outgoing_fields.${key}`, code: 'unknown_type', message: 'is no card type' }];
    }
    const possible = known(type ? [type] : metamodel.cardTypes.values());
    return fields.flatMap((field, index) =>
      possible.has(field)
        ? []
        : [
            {
              field: `outgoing_fields.${key}.${index}`,
              code: 'unknown_field',
              message: 'is no field of such cards that can be sent',
            },
          ],
    );
  });
}

/** The filled fields of a card, besides id and type, by their names in the settings. */
function fieldsOf(card: SendableCard | OutgoingCard): string[] {
  return [
    ...members.filter((member) => filled(card[member])),
    ...Object.entries(card.attributes ?? {}).flatMap(([key, value]) =>
      filled(value) ? [`attributes.${key}`] : [],
    ),
  ];
}

function filled(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/**
 * The fields of a card that would be sent to a provider, and the filled ones that would not.
 * @throws EstateError `not_found` if the card is not visible to the caller.
 */
export async function previewOutgoing(
  ctx: Ctx,
  settings: AiSettings,
  id: string,
): Promise<{ card: OutgoingCard; withheld: string[] }> {
  const rows = await query(ctx.db).rows`select c.id, c.type, c.name, c.alias, c.description, c.subtype,
    c.lifecycle, c.attributes
     from cards c where c.id = ${id}::uuid and ${embed(visibleCards(ctx))}`;
  const stored: SendableCard | undefined = rows[0];
  if (!stored) throw notFound('card', id);
  const card = outgoingCard(ctx, settings, stored);
  const costKeys = ctx.metamodel.cardTypes.get(stored.type)?.costKeys ?? [];
  // Without `costs.view` not even the existence of a cost is revealed.
  const untold = new Set(may(ctx.caller, 'costs.view') ? [] : costKeys.map((key) => `attributes.${key}`));
  for (const field of fieldsOf(card)) untold.add(field);
  return { card, withheld: fieldsOf(stored).filter((field) => !untold.has(field)) };
}
