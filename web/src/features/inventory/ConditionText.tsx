import { useQuery } from '@tanstack/react-query';
import { useFormat } from '../../kit/format.ts';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { peopleQuery } from '../../kit/people.ts';
import type { Condition, Operator } from './filter.ts';
import type { FilterField } from './filterFields.ts';

export const operatorTexts: Record<Operator, MessageKey> = {
  '=': 'operator.is',
  '!=': 'operator.isNot',
  '<': 'operator.below',
  '<=': 'operator.atMost',
  '>': 'operator.above',
  '>=': 'operator.atLeast',
  '~': 'operator.contains',
  'starts with': 'operator.startsWith',
  in: 'operator.in',
  'not in': 'operator.notIn',
  between: 'operator.between',
  'is empty': 'operator.isEmpty',
  'is not empty': 'operator.isNotEmpty',
};

const SHOWN = 3;

/** A condition in words, after the name of its field. */
export function ConditionText({
  condition,
  field,
}: {
  condition: Condition;
  field: FilterField | undefined;
}) {
  const t = useTexts();
  const { date, number } = useFormat();
  const isPerson = field?.kind === 'person';
  const { data: people } = useQuery({ ...peopleQuery, enabled: isPerson });
  const textOf = (value: string | null): string => {
    if (value === null) return t(condition.field === 'phase' ? 'phase.none' : 'facets.without');
    if (isPerson) return value === 'me' ? t('filter.me') : (people?.get(value) ?? value);
    if (field?.kind === 'boolean') return t(value === 'true' ? 'value.yes' : 'value.no');
    if (field?.kind === 'date' && /^\d{4}-\d\d-\d\d$/.test(value)) return date(value);
    if (field?.kind === 'number' && Number.isFinite(Number(value))) return number(Number(value));
    return field?.options?.find((option) => option.value === value)?.label ?? value;
  };
  const { operator, values } = condition;
  const isOne = operator === 'in' && values.length === 1;
  const named = values
    .slice(0, SHOWN)
    .map(textOf)
    .join(operator === 'between' ? ' – ' : ', ');
  const more = values.length > SHOWN ? ` +${values.length - SHOWN}` : '';
  return (
    <>
      <span className="secondary">{t(isOne ? 'operator.is' : operatorTexts[operator])}</span>
      {named && (
        <strong>
          {named}
          {more}
        </strong>
      )}
    </>
  );
}
