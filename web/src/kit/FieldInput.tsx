import { MultiSelect, Select, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { OptionMark } from './marks.tsx';
import { useLanguage } from './messages.tsx';
import { type Field, useMetamodel } from './metamodel.tsx';
import { editText, isNumeric, valueOfText } from './numbers.ts';

interface FieldInputProps {
  field: Field;
  value: unknown;
  onChange(value: unknown): void;
  label?: string;
  error?: string;
  required?: boolean;
}

/** The control of a form for a field of any kind. */
export function FieldInput({ field, value, onChange, label, error, required }: FieldInputProps) {
  const { t, language } = useLanguage();
  const { label: labelOf } = useMetamodel();
  const common = { label, error, required, 'aria-label': label ? undefined : labelOf(field) };
  if (field.type === 'boolean')
    return (
      <Select
        {...common}
        clearable
        data={[
          { value: 'true', label: t('value.yes') },
          { value: 'false', label: t('value.no') },
        ]}
        value={typeof value === 'boolean' ? String(value) : null}
        onChange={(chosen: string | null) => onChange(chosen === null ? null : chosen === 'true')}
      />
    );
  if (field.options) {
    const options = {
      ...common,
      searchable: true,
      clearable: true,
      data: field.options.map((option) => ({ value: option.key, label: labelOf(option) })),
      renderOption: ({ option }: { option: { value: string } }) => optionMark(field, option.value),
    };
    return field.type === 'multiple_select' ? (
      <MultiSelect
        {...options}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={(chosen: string[]) => onChange(chosen.length > 0 ? chosen : null)}
      />
    ) : (
      <Select
        {...options}
        value={typeof value === 'string' ? value : null}
        onChange={(chosen: string | null) => onChange(chosen)}
      />
    );
  }
  const text = editText(value, language);
  if (field.type === 'multiline_text')
    return (
      <Textarea
        {...common}
        autosize
        minRows={2}
        maxRows={8}
        value={text}
        onChange={(event) => onChange(event.target.value || null)}
      />
    );
  return (
    <TextInput
      {...common}
      type={field.type === 'date' ? 'date' : 'text'}
      inputMode={isNumeric(field) ? 'decimal' : undefined}
      value={text}
      onChange={(event) => onChange(event.target.value || null)}
      onBlur={() => onChange(valueOfText(field, text, language))}
    />
  );
}

/** An option as it stands in lists, with its mark. */
export function optionMark(field: Field, key: string): ReactNode {
  const at = field.options?.findIndex((option) => option.key === key) ?? -1;
  if (at < 0) return key;
  return <OptionMark option={field.options![at]!} field={field.key} step={field.options!.length - at} />;
}
