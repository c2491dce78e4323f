import { ActionIcon, Button, Popover, TextInput } from '@mantine/core';
import { useFormat } from './format.ts';
import { useOldestDay } from './history.ts';
import { Icon } from './Icon.tsx';
import { today } from './lifecycle.ts';
import { useTexts } from './messages.tsx';

interface AsOfFieldProps {
  /** `YYYY-MM-DD`; undefined for today. */
  value: string | undefined;
  onChange(day: string | undefined): void;
}

/** The day whose data a page shows. */
export function AsOfField({ value, onChange }: AsOfFieldProps) {
  const t = useTexts();
  const { date } = useFormat();
  const oldest = useOldestDay();
  return (
    <Popover position="bottom-end" shadow="md" trapFocus>
      <Popover.Target>
        <Button
          variant={value ? 'light' : 'subtle'}
          color={value ? undefined : 'gray'}
          leftSection={<Icon name="history" />}
        >
          {value ? t('asOf.day', { day: date(value) }) : t('asOf.today')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <TextInput
          type="date"
          label={t('asOf.label')}
          min={oldest}
          max={today()}
          value={value ?? today()}
          onChange={(event) => {
            const day = event.target.value;
            if (/^\d{4}-\d\d-\d\d$/.test(day) && day >= (oldest ?? '') && day <= today())
              onChange(day === today() ? undefined : day);
          }}
          rightSection={
            value && (
              <ActionIcon size="sm" aria-label={t('asOf.reset')} onClick={() => onChange(undefined)}>
                <Icon name="close" />
              </ActionIcon>
            )
          }
        />
      </Popover.Dropdown>
    </Popover>
  );
}
