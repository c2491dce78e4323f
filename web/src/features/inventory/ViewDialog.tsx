import { Button, Group, Radio, Stack, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '../../kit/Dialog.tsx';
import { useSubmit } from '../../kit/forms.ts';
import { useTexts } from '../../kit/messages.tsx';
import { type Share, SharedPeople } from '../../kit/SharedPeople.tsx';
import { useMe } from '../../shell/queries.ts';
import styles from './inventory.module.css';
import { type bodyOfView, useViewWrites, type View } from './views.ts';

interface ViewDialogProps {
  /** The view whose name and sharing are changed; absent for a new one. */
  view: View | undefined;
  body: ReturnType<typeof bodyOfView>;
  onClose(): void;
  onSaved(view: { id: string }): void;
}

/** Name, sharing and feed of a view. */
export function ViewDialog({ view, body, onClose, onSaved }: ViewDialogProps) {
  const t = useTexts();
  const { permissions } = useMe();
  const may = (permission: string) => permissions['*'] === true || permissions[permission] === true;
  const { create, change } = useViewWrites();
  const [name, setName] = useState(view?.name ?? '');
  const [visibility, setVisibility] = useState<View['visibility']>(view?.visibility ?? 'private');
  const [shares, setShares] = useState<Share[]>(view?.shared_with ?? []);
  const [hasFeed, setFeed] = useState(view?.odata_enabled ?? false);
  const form = useSubmit(async () => {
    const settings = {
      name: name.trim(),
      ...(may('bookmarks.share') && {
        visibility,
        shared_with: shares.map(({ user_id, can_edit }) => ({ user_id, can_edit })),
      }),
      ...(may('bookmarks.odata') && { odata_enabled: hasFeed }),
    };
    return view
      ? await change.mutateAsync({ id: view.id, ...settings })
      : await create.mutateAsync({ ...body, ...settings });
  }, onSaved);
  return (
    <Dialog onClose={onClose} title={t(view ? 'views.settings' : 'views.saveAs')}>
      <form onSubmit={form.submit}>
        <Stack gap="md">
          <TextInput
            label={t('field.name')}
            data-autofocus
            required
            value={name}
            error={form.errorOf('name')}
            onChange={(event) => setName(event.target.value)}
          />
          {may('bookmarks.share') && (
            <Radio.Group
              label={t('views.visibility')}
              value={visibility}
              onChange={(value: string) => setVisibility(value as View['visibility'])}
            >
              <Stack gap={6} mt={6}>
                <Radio value="private" label={t('views.private')} />
                <Radio value="shared" label={t('views.people')} />
                <Radio value="public" label={t('views.everyone')} />
              </Stack>
            </Radio.Group>
          )}
          {visibility !== 'private' && may('bookmarks.share') && (
            <SharedPeople shares={shares} onChange={setShares} />
          )}
          {may('bookmarks.odata') && (
            <Switch
              size="xs"
              label={t('views.feed')}
              description={t('views.feedHelp')}
              checked={hasFeed}
              onChange={(event) => setFeed(event.target.checked)}
            />
          )}
          {form.failure && <p className={styles.failure}>{form.failure}</p>}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={form.isBusy} disabled={name.trim() === ''}>
              {t('action.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
