import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { useLanguage, useTexts } from '../../kit/messages.tsx';
import { isAllowed, useMe } from '../../shell/queries.ts';
import { type ExportFormat, exportCards, TooManyFound } from './exporting.ts';
import type { InventorySearch } from './inventory.search.ts';
import type { ShownColumn } from './layout.ts';

const formats: [ExportFormat, string][] = [
  ['xlsx', 'Excel'],
  ['csv', 'CSV'],
  ['parquet', 'Parquet'],
];

interface ExportMenuProps {
  search: InventorySearch;
  columns: readonly ShownColumn[];
}

/** What the table shows as a file. */
export function ExportMenu({ search, columns }: ExportMenuProps) {
  const t = useTexts();
  const { language } = useLanguage();
  const { percent } = useFormat();
  const mayImport = isAllowed(useMe().permissions, 'inventory.create');
  const [progress, setProgress] = useState<number>();
  const run = async (format: ExportFormat) => {
    setProgress(0);
    try {
      const link = document.createElement('a');
      link.href = await exportCards(search, columns, format, language, setProgress);
      link.download = '';
      link.click();
    } catch (error) {
      const message = error instanceof TooManyFound ? t('export.tooMany') : (error as Error).message;
      notifications.show({ withCloseButton: false, color: 'red', message });
    } finally {
      setProgress(undefined);
    }
  };
  return (
    <Menu position="bottom-end" width={260}>
      <Menu.Target>
        <Button variant="default" leftSection={<Icon name="download" />} disabled={progress !== undefined}>
          {progress === undefined ? t('export.title') : percent(progress * 100)}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {formats.map(([format, name]) => (
          <Menu.Item key={format} onClick={() => run(format)}>
            {name}
          </Menu.Item>
        ))}
        {mayImport && (
          <>
            <Menu.Divider />
            <Menu.Item leftSection={<Icon name="edit" />} onClick={() => run('workbook')}>
              {t('export.workbook')}
            </Menu.Item>
            <Menu.Item
              leftSection={<Icon name="upload_file" />}
              renderRoot={(props) => (
                <Link to="/import" search={search.type ? { type: search.type } : {}} {...props} />
              )}
            >
              {t('first.import')}
            </Menu.Item>
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
