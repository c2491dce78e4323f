import type { FieldError } from '../../../platform/errors.ts';
import type { CardInput } from '../../inventory/cards/rules/diff.ts';
import { cleanCardInput, validateForType } from '../../inventory/cards/rules/values.ts';
import type { RelationInput } from '../../inventory/relations/relations.model.ts';
import { validateRelationInput } from '../../inventory/relations/relations.rules.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type { CardType, RelationType } from '../../kernel/metamodel/metamodel.compile.ts';

/** The errors of columns with JSON that are no objects. */
const notObjects = (row: StoredRow, ...fields: string[]): FieldError[] =>
  fields
    .filter((field) => typeof (row[field] ?? null) !== 'object' || Array.isArray(row[field]))
    .map((field) => ({ field, code: 'wrong_type', message: 'has the wrong type' }));

/**
 * The errors of a card of an archive, with the checks of single cards, except that values set by the service are
 * allowed.
 */
export function cardErrors(types: ReadonlyMap<string, CardType>, card: StoredRow): FieldError[] {
  const type = types.get(String(card.type));
  if (!type) return [{ field: 'type', code: 'unknown_type', message: 'is no card type' }];
  const wrong = notObjects(card, 'lifecycle', 'attributes');
  if (wrong.length > 0) return wrong;
  const input = cleanCardInput(card as CardInput);
  return validateForType(type, input, { creating: true, stored: input.attributes ?? {} });
}

/** The errors of a relation of an archive between cards of these types. */
export function relationErrors(
  types: ReadonlyMap<string, RelationType>,
  relation: StoredRow,
  ends: { source: string | null; target: string | null },
): FieldError[] {
  const type = types.get(String(relation.type));
  if (!type) return [{ field: 'type', code: 'unknown_type', message: 'is no relation type' }];
  const errors = (['source', 'target'] as const)
    .filter((end) => ends[end] !== type[`${end}_type_key`])
    .map((end) => {
      const message = `must be a card of the type ${type[`${end}_type_key`]}`;
      return { field: `${end}_id`, code: 'end_type', message };
    });
  if (relation.source_id === relation.target_id) {
    errors.push({ field: 'target_id', code: 'same_card', message: 'is the same card as source_id' });
  }
  const wrong = notObjects(relation, 'attributes');
  return [...errors, ...(wrong.length > 0 ? wrong : validateRelationInput(type, relation as RelationInput))];
}
