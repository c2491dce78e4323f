import { Checkbox, Menu } from '@mantine/core';
import styles from './control.module.css';

interface ControlChecksProps {
  label: string;
  title?: string | undefined;
  /** What stands there without a choice. */
  placeholder: string;
  value: readonly string[];
  data: readonly { value: string; label: string }[];
  onChange(value: string[]): void;
}

/** Several of a few values in a row of controls. */
export function ControlChecks({ label, title, placeholder, value, data, onChange }: ControlChecksProps) {
  const chosen = data.filter((one) => value.includes(one.value));
  return (
    <Menu closeOnItemClick={false} position="bottom-start">
      <Menu.Target>
        <button type="button" className={`${styles.control} ${styles.checks}`} title={title}>
          <span className={styles.label}>{label}</span>
          <span className={styles.chosen}>{chosen.map((one) => one.label).join(', ') || placeholder}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {data.map((one) => {
          const isChosen = value.includes(one.value);
          return (
            <Menu.Item
              key={one.value}
              role="menuitemcheckbox"
              aria-checked={isChosen}
              leftSection={<Checkbox size="xs" checked={isChosen} readOnly tabIndex={-1} aria-hidden />}
              onClick={() =>
                onChange(
                  data
                    .map((each) => each.value)
                    .filter((each) => (each === one.value) !== value.includes(each)),
                )
              }
            >
              {one.label}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}
