import { Button, CopyButton, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { Icon } from '../../kit/Icon.tsx';
import { ToneMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMe } from '../../shell/queries.ts';
import styles from './inventory.module.css';
import type { InventorySearch } from './inventory.search.ts';
import type { ShownColumn } from './layout.ts';
import { ViewDialog } from './ViewDialog.tsx';
import { bodyOfView, isEdited, searchOfView, useViews, useViewWrites, type View } from './views.ts';

interface ViewMenuProps {
  /** What the page shows, without a view. */
  title: string;
  search: InventorySearch;
  columns: readonly ShownColumn[];
  onChange(search: InventorySearch): void;
}

/** The title of the page: the view that is shown, with the others and what can be done with it. */
export function ViewMenu({ title, search, columns, onChange }: ViewMenuProps) {
  const t = useTexts();
  const { id: me } = useMe();
  const views = useViews();
  const { change, remove } = useViewWrites();
  const [dialog, setDialog] = useState<'create' | 'share'>();
  const view = views.find(({ id }) => id === search.view);
  const edited = view !== undefined && isEdited(search, view);
  const groups = [
    [t('views.own'), views.filter(({ owner_id }) => owner_id === me)],
    [
      t('views.shared'),
      views.filter(({ owner_id, visibility }) => owner_id !== me && visibility === 'shared'),
    ],
    [
      t('views.public'),
      views.filter(({ owner_id, visibility }) => owner_id !== me && visibility === 'public'),
    ],
  ] as const;
  const save = async () => {
    await change.mutateAsync({ id: view!.id, ...bodyOfView(search, columns) });
    notifications.show({ withCloseButton: false, message: t('views.saved', { name: view!.name }) });
  };
  return (
    <>
      <Menu width={260} position="bottom-start">
        <Menu.Target>
          <button type="button" className={styles.viewButton} aria-label={t('views.menu')}>
            <Icon name="keyboard_arrow_down" size={18} />
          </button>
        </Menu.Target>
        <Menu.Dropdown className={styles.views}>
          {view && (
            <Menu.Item onClick={() => onChange({ type: search.type })}>
              {t('views.none', { title })}
            </Menu.Item>
          )}
          {groups.map(([label, own]) =>
            own.length === 0 ? null : (
              <div key={label}>
                <Menu.Label>{label}</Menu.Label>
                {own.map((one) => (
                  <ViewItem key={one.id} view={one} isCurrent={one === view} onChange={onChange} />
                ))}
              </div>
            ),
          )}
          {views.length > 0 && <Menu.Divider />}
          <Menu.Item leftSection={<Icon name="bookmark" />} onClick={() => setDialog('create')}>
            {t('views.saveAs')}
          </Menu.Item>
          {view?.is_owner && (
            <>
              <Menu.Item leftSection={<Icon name="share" />} onClick={() => setDialog('share')}>
                {t('views.settings')}
              </Menu.Item>
              {view.odata_url && <FeedItem url={view.odata_url} />}
              <Menu.Item
                leftSection={<Icon name="delete" />}
                color="red"
                onClick={async () => {
                  await remove.mutateAsync(view.id);
                  onChange({ ...search, view: undefined });
                }}
              >
                {t('views.delete')}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {edited && (
        <>
          <ToneMark tone="neutral">{t('views.edited')}</ToneMark>
          {view.can_edit && (
            <Button variant="subtle" size="compact-xs" loading={change.isPending} onClick={save}>
              {t('action.save')}
            </Button>
          )}
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            onClick={() => onChange(searchOfView(view))}
          >
            {t('views.reset')}
          </Button>
        </>
      )}
      {dialog && (
        <ViewDialog
          view={dialog === 'share' ? view : undefined}
          body={bodyOfView(search, columns)}
          onClose={() => setDialog(undefined)}
          onSaved={(saved) => {
            setDialog(undefined);
            if (dialog === 'create') onChange({ ...search, view: saved.id });
          }}
        />
      )}
    </>
  );
}

function ViewItem({
  view,
  isCurrent,
  onChange,
}: { view: View; isCurrent: boolean } & Pick<ViewMenuProps, 'onChange'>) {
  const t = useTexts();
  return (
    <Menu.Item
      rightSection={isCurrent && <Icon name="check" />}
      title={view.is_owner ? view.name : t('views.by', { name: view.name, owner: view.owner_name })}
      onClick={() => onChange(searchOfView(view))}
    >
      {view.name}
    </Menu.Item>
  );
}

function FeedItem({ url }: { url: string }) {
  const t = useTexts();
  return (
    <CopyButton value={new URL(url, window.location.origin).href}>
      {({ copy, copied }) => (
        <Menu.Item closeMenuOnClick={false} leftSection={<Icon name="link" />} onClick={copy}>
          {t(copied ? 'views.feedCopied' : 'views.copyFeed')}
        </Menu.Item>
      )}
    </CopyButton>
  );
}
