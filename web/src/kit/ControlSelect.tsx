import { Select } from '@mantine/core';
import styles from './control.module.css';

interface Choice {
  value: string;
  label: string;
}

interface ControlSelectProps {
  label: string;
  title?: string | undefined;
  value: string | null;
  data: readonly (Choice | { group: string; items: readonly Choice[] })[];
  /** What stands there without a choice. */
  placeholder?: string;
  clearable?: boolean;
  width?: number;
  onChange(value: string | null): void;
}

/** How the controls of a row look: their name above their value, both in one frame. */
export const controlLook = {
  variant: 'unstyled' as const,
  classNames: {
    root: styles.control!,
    label: styles.label!,
    input: styles.input!,
    section: styles.section!,
  },
};

/** A choice in a row of controls. */
export function ControlSelect({ label, title, data, width = 168, clearable, ...rest }: ControlSelectProps) {
  const count = data.reduce((sum, one) => sum + ('items' in one ? one.items.length : 1), 0);
  return (
    <Select
      {...rest}
      {...controlLook}
      label={label}
      title={title}
      searchable={count > 7}
      clearable={clearable ?? false}
      allowDeselect={clearable ?? false}
      maxDropdownHeight={360}
      comboboxProps={{ width: 'max-content', position: 'bottom-start' }}
      data={data as Choice[]}
      styles={{ root: { width } }}
    />
  );
}
