import { Button, Group, MultiSelect, Select, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { optionMark } from '../../kit/FieldInput.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { peopleQuery } from '../../kit/people.ts';
import { operatorTexts } from './ConditionText.tsx';
import type { Condition, Operator } from './filter.ts';
import { type FilterField, operatorsOf } from './filterFields.ts';

interface ConditionEditorProps {
  condition: Condition;
  field: FilterField;
  onApply(condition: Condition): void;
}

/** Operator and values of a condition. */
export function ConditionEditor({ condition, field, onApply }: ConditionEditorProps) {
  const t = useTexts();
  const [operator, setOperator] = useState<Operator>(condition.operator);
  const [values, setValues] = useState<(string | null)[]>(condition.values);
  const offered = operatorsOf[field.kind];
  const operators = offered.includes(operator) ? offered : [operator, ...offered];
  const count = operator === 'between' ? 2 : operator.endsWith('empty') ? 0 : 1;
  const isList = operator === 'in' || operator === 'not in';
  const given = values.filter((value) => value !== '').slice(0, isList ? undefined : count);
  const isWhole = isList ? given.length > 0 : given.length === count;
  const apply = (event?: FormEvent) => {
    event?.preventDefault();
    if (isWhole) onApply({ field: field.path, operator, values: given });
  };
  const set = (at: number, value: string) => {
    const next = [values[0] ?? '', values[1] ?? ''];
    next[at] = value;
    setValues(next);
  };
  return (
    <form onSubmit={apply}>
      <Stack gap="sm">
        <Select
          aria-label={t('filter.operator')}
          allowDeselect={false}
          comboboxProps={{ withinPortal: false }}
          data={operators.map((one) => ({ value: one, label: t(operatorTexts[one]) }))}
          value={operator}
          onChange={(value: string | null) => setOperator((value as Operator | null) ?? operator)}
        />
        {isList && <ListInput field={field} values={values} onChange={setValues} />}
        {!isList && field.kind === 'boolean' && count === 1 && (
          <Select
            aria-label={field.label}
            comboboxProps={{ withinPortal: false }}
            data={[
              { value: 'true', label: t('value.yes') },
              { value: 'false', label: t('value.no') },
            ]}
            value={values[0] || null}
            onChange={(value: string | null) => setValues([value ?? ''])}
          />
        )}
        {!isList && field.kind !== 'boolean' && count > 0 && (
          <Group grow gap="xs">
            {Array.from({ length: count }, (_, at) => (
              <TextInput
                // biome-ignore lint/suspicious/noArrayIndexKey: the lower and the upper bound
                key={at}
                aria-label={at === 0 ? field.label : t('filter.upper', { field: field.label })}
                data-autofocus={at === 0 || undefined}
                type={field.kind === 'date' ? 'date' : 'text'}
                inputMode={field.kind === 'number' ? 'decimal' : undefined}
                value={values[at] ?? ''}
                onChange={(event) => set(at, event.target.value)}
              />
            ))}
          </Group>
        )}
        <Button type="submit" disabled={!isWhole}>
          {t('filter.apply')}
        </Button>
      </Stack>
    </form>
  );
}

const NONE = '\u0000';

interface ListInputProps {
  field: FilterField;
  values: (string | null)[];
  onChange(values: (string | null)[]): void;
}

function ListInput({ field, values, onChange }: ListInputProps) {
  const t = useTexts();
  const isPerson = field.kind === 'person';
  const { data: people } = useQuery({ ...peopleQuery, enabled: isPerson });
  const options = isPerson
    ? [
        { value: 'me', label: t('filter.me') },
        ...[...(people ?? [])].map(([value, label]) => ({ value, label })),
      ]
    : (field.options ?? []);
  const known = new Set(options.map(({ value }) => value));
  const others = values.flatMap((value) => (value && !known.has(value) ? [{ value, label: value }] : []));
  return (
    <MultiSelect
      aria-label={field.label}
      data-autofocus
      searchable
      comboboxProps={{ withinPortal: false }}
      limit={100}
      data={[
        ...options,
        ...others,
        { value: NONE, label: t(field.path === 'phase' ? 'phase.none' : 'facets.without') },
      ]}
      renderOption={({ option }) =>
        field.field && option.value !== NONE ? optionMark(field.field, option.value) : option.label
      }
      value={values.map((value) => value ?? NONE)}
      onChange={(chosen: string[]) => onChange(chosen.map((value) => (value === NONE ? null : value)))}
    />
  );
}
