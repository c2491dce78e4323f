import type { FieldError } from '../../../platform/errors.ts';
import {
  checkAttributes,
  checkLifecycle,
  checkLine,
  checkText,
  MAX_ALIAS,
  MAX_DESCRIPTION,
  MAX_EXTERNAL_ID,
  MAX_NAME,
} from '../../inventory/cards/rules/values.ts';
import type { RelationInput } from '../../inventory/relations/relations.model.ts';
import { validateRelationInput } from '../../inventory/relations/relations.rules.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { CardType, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';

const wrongType = (field: string): FieldError => ({
  field,
  code: 'wrong_type',
  message: 'has the wrong type',
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The errors of a card of an archive, with the checks of single cards, except that values set by the service are
 * allowed.
 */
export function cardErrors(types: ReadonlyMap<string, CardType>, card: StoredRow): FieldError[] {
  const type = types.get(String(card.type));
  if (!type) return [{ field: 'type', code: 'unknown_type', message: 'is no card type' }];
  const errors: (FieldError | undefined)[] = [];
  const text = (field: string, max: number, check: typeof checkLine) => {
    const value = card[field] ?? null;
    if (value === null) return;
    errors.push(typeof value === 'string' ? check(field, value, max) : wrongType(field));
  };
  if (typeof card.name !== 'string' || card.name.trim() === '') {
    errors.push({ field: 'name', code: 'required', message: 'must not be blank' });
  } else errors.push(checkLine('name', card.name, MAX_NAME));
  text('alias', MAX_ALIAS, checkLine);
  text('external_id', MAX_EXTERNAL_ID, checkLine);
  text('description', MAX_DESCRIPTION, checkText);
  const subtype = card.subtype ?? null;
  if (subtype !== null && !type.subtypeKeys.has(String(subtype))) {
    errors.push({ field: 'subtype', code: 'unknown_subtype', message: `is no subtype of ${type.key}` });
  }
  const lifecycle = card.lifecycle ?? null;
  if (isObject(lifecycle)) errors.push(...checkLifecycle(lifecycle));
  else if (lifecycle !== null) errors.push(wrongType('lifecycle'));
  errors.push(
    ...(isObject(card.attributes)
      ? checkAttributes(type.fields, card.attributes)
      : [wrongType('attributes')]),
  );
  return errors.filter((error) => error !== undefined);
}

/** The errors of a relation of an archive between cards of these types. */
export function relationErrors(
  types: ReadonlyMap<string, RelationType>,
  relation: StoredRow,
  ends: { source: string | null; target: string | null },
): FieldError[] {
  const type = types.get(String(relation.type));
  if (!type) return [{ field: 'type', code: 'unknown_type', message: 'is no relation type' }];
  const errors: FieldError[] = [];
  if (ends.source !== type.source_type_key) {
    errors.push({
      field: 'source_id',
      code: 'end_type',
      message: `must be a card of the type ${type.source_type_key}`,
    });
  }
  if (ends.target !== type.target_type_key) {
    errors.push({
      field: 'target_id',
      code: 'end_type',
      message: `must be a card of the type ${type.target_type_key}`,
    });
  }
  if (relation.source_id === relation.target_id) {
    errors.push({ field: 'target_id', code: 'same_card', message: 'is the same card as source_id' });
  }
  if (!isObject(relation.attributes)) return [...errors, wrongType('attributes')];
  return [...errors, ...validateRelationInput(type, relation as RelationInput)];
}

const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/** The error of the URL of a link: it must be safe to open. */
export function linkErrors({ url }: StoredRow): FieldError[] {
  if (url === null || url === undefined) return [];
  const parsed = typeof url === 'string' && !/\s/.test(url) ? URL.parse(url) : null;
  if (parsed && SCHEMES.has(parsed.protocol)) return [];
  return [{ field: 'url', code: 'bad_url', message: 'is no http, https or mailto address' }];
}
