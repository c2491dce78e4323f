import { type LifecyclePhase, lifecyclePhases } from '../../domain/kernel/metamodel/metamodel.types.ts';
import type { Cell } from './formats/formats.types.ts';

/** A text from code or metamodel as an SQL literal without a question mark, which would be a binding. */
export const literal = (text: string): string =>
  `('${text.replaceAll("'", "''").replaceAll('?', "' || chr(63) || '")}')`;

/**
 * SQL of a member of a JSON object: an id, which needs no escaping, a text or key, a JSON value, or the items of an
 * array as text, separated by commas; NULL for none.
 */
export type JsonMember = { id: string } | { text: string } | { json: string } | { array: string };

function memberText(member: JsonMember): string {
  if ('id' in member) return `'"' || ${member.id} || '"'`;
  if ('array' in member) return `'[' || coalesce(${member.array}, '') || ']'`;
  if ('text' in member) return `coalesce(to_json(${member.text})::text, 'null')`;
  return `coalesce((${member.json})::text, 'null')`;
}

/** The text of a JSON object by concatenation, which takes half the time of `json_build_object`. No id may be NULL. */
export function jsonText(members: Record<string, JsonMember>, end = '}'): string {
  const parts = Object.entries(members).map(
    ([name, member], n) => `'${n === 0 ? '{' : ','}${JSON.stringify(name)}:' || ${memberText(member)}`,
  );
  return `(${parts.join(' || ')} || '${end}')`;
}

/** {@link jsonText} as a line of a long array, with a comma at the end. */
export const jsonLine = (members: Record<string, JsonMember>): string => jsonText(members, '},');

/**
 * The text of a JSON array of items, each on a line of its own, for arrays that are part of a statement's answer.
 * @param item SQL of one item's JSON. @param order what an ORDER BY holds.
 */
export const jsonLines = (item: string, order: string): string =>
  `'[' || coalesce(string_agg((${item})::text, E',\\n' order by ${order}), '') || ']'`;

/** A number in attributes, 0 if there is none. @param attributes SQL of the JSON object. */
export const numberIn = (attributes: string, key: string): string =>
  `case when jsonb_typeof(${attributes} -> ${literal(key)}) = 'number'
        then (${attributes} -> ${literal(key)})::numeric else 0 end`;

/** After `cards c`: the attributes as `v.attributes`, evaluated once per card, since with `as_of` they are reconstructed. */
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
