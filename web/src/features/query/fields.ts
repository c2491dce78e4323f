import { useMemo } from 'react';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';

interface Choice {
  value: string;
  label: string;
}

export interface FieldGroup {
  group: string;
  items: Choice[];
}

const phases = ['plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife'] as const;

/** The fields of card types that a query can use: their own, and names and types of related cards. */
export function useQueryFields(from: readonly string[]): {
  fields: FieldGroup[];
  dates: ReadonlySet<string>;
  numbers: ReadonlySet<string>;
} {
  const t = useTexts();
  const { types, relationTypes, sections, type: typeOf, label } = useMetamodel();
  return useMemo(() => {
    const chosen = from.length > 0 ? from : types.map(({ key }) => key);
    const own: Choice[] = [
      { value: 'name', label: t('field.name') },
      { value: 'id', label: t('query.each') },
      { value: 'type', label: t('field.type') },
      { value: 'subtype', label: t('field.subtype') },
      { value: 'phase', label: t('field.phase') },
      { value: 'approval_status', label: t('field.approval') },
      { value: 'data_quality', label: t('field.quality') },
      { value: 'tags', label: t('field.tags') },
      { value: 'created_at', label: t('query.created') },
      { value: 'updated_at', label: t('query.updated') },
      ...phases.map((phase) => ({
        value: `lifecycle.${phase}`,
        label: `${t('field.lifecycle')}: ${t(`phase.${phase}` as MessageKey)}`,
      })),
    ];
    const dates = new Set(['created_at', 'updated_at', ...phases.map((phase) => `lifecycle.${phase}`)]);
    const numbers = new Set(['data_quality']);
    const attributes = new Map<string, Choice>();
    for (const key of chosen)
      for (const field of sections(key).flatMap((section) => section.fields)) {
        const value = `attributes.${field.key}`;
        attributes.set(value, { value, label: label(field) });
        if (field.type === 'date') dates.add(value);
        if (field.type === 'number' || field.type === 'cost') numbers.add(value);
      }
    const related = relationTypes.flatMap((relation) => {
      const ends = [
        { is: relation.source_type_key, other: relation.target_type_key, way: 'target' },
        { is: relation.target_type_key, other: relation.source_type_key, way: 'source' },
      ];
      return ends.flatMap(({ is, other, way }): Choice[] => {
        const type = typeOf(other);
        if (relation.is_hidden || !type || from.length === 0 || !from.includes(is)) return [];
        return [
          { value: `relation.${relation.key}.${way}.name`, label: `${label(type)} (${label(relation)})` },
        ];
      });
    });
    const fields = [
      { group: t('query.card'), items: own },
      { group: t('query.attributes'), items: [...attributes.values()] },
      ...(related.length > 0 ? [{ group: t('card.relations'), items: related }] : []),
    ];
    return { fields, dates, numbers };
  }, [from, types, relationTypes, sections, typeOf, label, t]);
}
