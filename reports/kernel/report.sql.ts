import { type LifecyclePhase, lifecyclePhases } from '../../domain/kernel/metamodel/metamodel.types.ts';
import type { Cell } from './formats/formats.types.ts';

/** A text of ours or of the metamodel as an SQL literal in which no place for a value is found. */
export const literal = (text: string): string =>
  `('${text.replaceAll("'", "''").replaceAll('?', "' || chr(63) || '")}')`;

/**
 * SQL of a member of a JSON object: an id, which needs no escaping, a text or key, what is JSON as it stands, or the
 * items of an array as text with the commas between them, NULL for none.
 */
export type JsonMember = { id: string } | { text: string } | { json: string } | { array: string };

function memberText(member: JsonMember): string {
  if ('id' in member) return `'"' || ${member.id} || '"'`;
  if ('array' in member) return `'[' || coalesce(${member.array}, '') || ']'`;
  if ('text' in member) return `coalesce(to_json(${member.text})::text, 'null')`;
  return `coalesce((${member.json})::text, 'null')`;
}

/**
 * The text of a JSON object, put together in one step: for many rows that takes half the time of
 * `json_build_object`. No id may be NULL.
 */
export function jsonText(members: Record<string, JsonMember>, end = '}'): string {
  const parts = Object.entries(members).map(
    ([name, member], n) => `'${n === 0 ? '{' : ','}${JSON.stringify(name)}:' || ${memberText(member)}`,
  );
  return `(${parts.join(' || ')} || '${end}')`;
}

/** The same as a line of a long array, with the comma behind it. */
export const jsonLine = (members: Record<string, JsonMember>): string => jsonText(members, '},');

/**
 * The text of a JSON array of items, each on a line of its own, for arrays that are part of a statement's answer.
 * @param item SQL of one item's JSON. @param order what an ORDER BY holds.
 */
export const jsonLines = (item: string, order: string): string =>
  `'[' || coalesce(string_agg((${item})::text, E',\\n' order by ${order}), '') || ']'`;

/** A number among attributes, 0 where there is none. @param attributes SQL of the JSON object. */
export const numberIn = (attributes: string, key: string): string =>
  `case when jsonb_typeof(${attributes} -> ${literal(key)}) = 'number'
        then (${attributes} -> ${literal(key)})::numeric else 0 end`;

/**
 * Behind `cards c`, the attributes as `v.attributes`, made once for each card however often they are read: those of a
 * moment are put together.
 */
export const attributesOnce = 'cross join lateral (select c.attributes offset 0) v';

export type Lifecycle = Partial<Record<LifecyclePhase, string>> | null;

/** The columns of a lifecycle's phases, as `reportTable` takes them. */
export const lifecycleKinds = Object.fromEntries(lifecyclePhases.map((phase) => [phase, 'date'])) as Record<
  LifecyclePhase,
  'date'
>;

/** A card with the phases of its lifecycle as members of their own. */
export const withPhases = <T extends { lifecycle: Lifecycle }>(card: T): T & Record<LifecyclePhase, Cell> =>
  ({ ...card, ...card.lifecycle }) as T & Record<LifecyclePhase, Cell>;
