import { Switch } from '@mantine/core';
import { ControlSelect } from '../../kit/ControlSelect.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { isAllowed, useMe } from '../../shell/queries.ts';
import type { Kind } from './import.search.ts';
import type { ImportOptions } from './run.ts';

export type Options = Omit<ImportOptions, 'kind'>;

interface OptionProps {
  kind: Kind;
  options: Options;
  onOptions(options: Options): void;
}

/** What rows do to what exists. */
export function OptionFields({ kind, options, onOptions }: OptionProps) {
  const t = useTexts();
  const { permissions } = useMe();
  const mayEdit = isAllowed(permissions, 'inventory.edit');
  const set = (change: Partial<Options>) => onOptions({ ...options, ...change });
  return (
    <>
      <ControlSelect
        label={t('import.mode')}
        width={220}
        value={options.mode}
        data={(mayEdit ? (['upsert', 'create'] as const) : (['create'] as const)).map((value) => ({
          value,
          label: t(`import.mode.${value}`),
        }))}
        onChange={(value) => set({ mode: value as Options['mode'] })}
      />
      <ControlSelect
        label={t('import.empty')}
        width={190}
        value={options.empty}
        data={(['leave', 'clear'] as const).map((value) => ({ value, label: t(`import.empty.${value}`) }))}
        onChange={(value) => set({ empty: value as Options['empty'] })}
      />
      <Switch
        size="xs"
        label={t('import.atomic')}
        checked={options.atomic}
        onChange={(event) => set({ atomic: event.target.checked })}
      />
      {kind === 'cards' && isAllowed(permissions, 'tags.manage') && (
        <Switch
          size="xs"
          label={t('import.createTags')}
          checked={options.create_tags ?? false}
          onChange={(event) => set({ create_tags: event.target.checked })}
        />
      )}
    </>
  );
}
