import { Button, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Icon } from './Icon.tsx';
import { useTexts } from './messages.tsx';
import { SaveDialog } from './SaveDialog.tsx';
import { savedReportsQuery, type Tile, tilesOf, useSavedReports } from './saved.ts';

/** Puts what a page shows on a dashboard that one may change, or on a new one. */
export function PinMenu({ tile }: { tile: Tile }) {
  const t = useTexts();
  const [isNew, setNew] = useState(false);
  const { data: dashboards } = useQuery(savedReportsQuery('all', 'dashboard'));
  const { change } = useSavedReports();
  const say = (name: string) => notifications.show({ message: t('pin.done', { name }) });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<Icon name="keep" />}>
            {t('pin.pin')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {(dashboards ?? [])
            .filter(({ can_edit }) => can_edit)
            .map((one) => (
              <Menu.Item
                key={one.id}
                onClick={async () => {
                  await change.mutateAsync({ id: one.id, config: { tiles: [...tilesOf(one), tile] } });
                  say(one.name);
                }}
              >
                {one.name}
              </Menu.Item>
            ))}
          <Menu.Item leftSection={<Icon name="add" />} onClick={() => setNew(true)}>
            {t('pin.new')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isNew && (
        <SaveDialog
          title={t('pin.new')}
          type="dashboard"
          name=""
          config={{ tiles: [tile] }}
          onClose={() => setNew(false)}
          onDone={({ name }) => {
            setNew(false);
            say(name);
          }}
        />
      )}
    </>
  );
}
