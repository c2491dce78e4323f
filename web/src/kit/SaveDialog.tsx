import {
  Button,
  Group,
  MultiSelect,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, listUsers, type SavedReport } from '#client';
import { useMe } from '../shell/queries.ts';
import { Dialog } from './Dialog.tsx';
import { useSubmit } from './forms.ts';
import { useTexts } from './messages.tsx';
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
  const [people, setPeople] = useState<string[]>(saved?.shared_with ?? []);
  const { data: users } = useQuery({
    queryKey: ['users', 'picker'],
    queryFn: ({ signal }) =>
      call(listUsers({ signal, query: { page_size: 200, fields: 'id,display_name' } as never })),
    enabled: visibility === 'shared',
    retry: false,
  });
  const form = useSubmit(
    async () => {
      const values = {
        name,
        description: description.trim() || null,
        visibility,
        shared_with: visibility === 'shared' ? people : [],
      };
      if (saved) return await change.mutateAsync({ id: saved.id, ...values, ...(config && { config }) });
      return await create.mutateAsync({ ...values, report_type: type, config: config ?? {} });
    },
    (done) => onDone(done as SavedReport),
  );
  const choices = (users?.items ?? []) as { id: string; display_name: string }[];
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
          {visibility === 'shared' && (
            <MultiSelect
              label={t('save.people')}
              searchable
              value={people}
              error={form.errorOf('shared_with')}
              data={choices
                .filter(({ id }) => id !== me.id)
                .map(({ id, display_name }) => ({ value: id, label: display_name }))}
              onChange={setPeople}
            />
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
