import { Button, Group, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { SavedReport } from '#client';
import { useMe } from '../shell/queries.ts';
import { Dialog } from './Dialog.tsx';
import { useSubmit } from './forms.ts';
import { useTexts } from './messages.tsx';
import { type Share, SharedPeople } from './SharedPeople.tsx';
import { useSavedReports } from './saved.ts';

type Visibility = SavedReport['visibility'];

interface SaveDialogProps {
  title: string;
  /** The saved report to change; undefined for a new one. */
  saved?: SavedReport | undefined;
  /** What is saved; undefined to keep it. */
  config?: Record<string, unknown> | undefined;
  type: SavedReport['report_type'];
  name: string;
  onDone(saved: SavedReport): void;
  onClose(): void;
}

/** Asks under which name something is saved, and who sees it. */
export function SaveDialog({ title, saved, config, type, name: proposed, onDone, onClose }: SaveDialogProps) {
  const t = useTexts();
  const me = useMe();
  const { create, change } = useSavedReports();
  const [name, setName] = useState(saved?.name ?? proposed);
  const [description, setDescription] = useState(saved?.description ?? '');
  const [visibility, setVisibility] = useState<Visibility>(saved?.visibility ?? 'private');
  const [shares, setShares] = useState<Share[]>(
    saved?.shared_with_users.map(({ id, ...share }) => ({ user_id: id, ...share })) ?? [],
  );
  const isOwner = saved?.is_owner ?? true;
  const form = useSubmit(
    async () => {
      const values = {
        name,
        description: description.trim() || null,
        ...(isOwner && {
          visibility,
          shared_with:
            visibility === 'private' ? [] : shares.map(({ user_id, can_edit }) => ({ user_id, can_edit })),
        }),
      };
      if (saved) return await change.mutateAsync({ id: saved.id, ...values, ...(config && { config }) });
      return await create.mutateAsync({ ...values, report_type: type, config: config ?? {} });
    },
    (done) => onDone(done as SavedReport),
  );
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={form.submit}>
        <Stack gap="sm">
          <TextInput
            data-autofocus
            required
            label={t('save.name')}
            maxLength={200}
            value={name}
            error={form.errorOf('name')}
            onChange={(event) => setName(event.target.value)}
          />
          <Textarea
            autosize
            minRows={2}
            label={t('save.description')}
            value={description}
            error={form.errorOf('description')}
            onChange={(event) => setDescription(event.target.value)}
          />
          {isOwner && (
            <SegmentedControl
              fullWidth
              aria-label={t('save.visibility')}
              value={visibility}
              data={(['private', 'shared', 'public'] as const).map((value) => ({
                value,
                label: t(`save.${value}`),
              }))}
              onChange={(value) => setVisibility(value as Visibility)}
            />
          )}
          {isOwner && visibility !== 'private' && (
            <SharedPeople shares={shares} exclude={[me.id]} onChange={setShares} />
          )}
          {form.failure && <Text c="red">{form.failure}</Text>}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={form.isBusy}>
              {t('action.save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
