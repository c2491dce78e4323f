import { Button, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call, createChannel, deleteChannel, patchChannel, testChannel } from '#client';
import { channelsQuery, type FullChannel } from '../../kit/channels.ts';
import { Dialog } from '../../kit/Dialog.tsx';
import { useSubmit } from '../../kit/forms.ts';
import { ToneMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useReason } from '../../kit/reasons.ts';
import { useMe } from '../../shell/queries.ts';
import styles from './account.module.css';

/** The person's channels of Slack and Microsoft Teams, and which of them get the notifications. */
export function ChannelsSection() {
  const t = useTexts();
  const me = useMe();
  const { data } = useQuery(channelsQuery);
  const [isOpen, setOpen] = useState(false);
  const own = data?.filter(({ owner_id, is_shared }) => owner_id === me.id && !is_shared) ?? [];
  return (
    <section className={styles.section}>
      <h2>{t('channels.title')}</h2>
      <p>{t('channels.help')}</p>
      {own.length > 0 && (
        <table className={`${styles.table} ${styles.wide}`}>
          <thead>
            <tr>
              <th>{t('field.name')}</th>
              <th>{t('channels.notifies')}</th>
              <th>
                <span className="visually-hidden">{t('channels.actions')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {own.map((channel) => (
              <ChannelRow key={channel.id} channel={channel} />
            ))}
          </tbody>
        </table>
      )}
      <Button variant="default" onClick={() => setOpen(true)}>
        {t('channels.add')}
      </Button>
      {isOpen && <NewChannel onClose={() => setOpen(false)} />}
    </section>
  );
}

function ChannelRow({
  channel: { id, name, kind, notifies, status, paused_reason },
}: {
  channel: FullChannel;
}) {
  const t = useTexts();
  const reasonOf = useReason();
  const client = useQueryClient();
  const options = {
    onSuccess: () => client.invalidateQueries({ queryKey: channelsQuery.queryKey }),
    onError: (error: Error) => notifications.show({ color: 'red', message: reasonOf(error) }),
  };
  const change = useMutation({
    mutationFn: (body: { notifies?: boolean; status?: 'active' }) =>
      call(patchChannel({ path: { id }, body })),
    ...options,
  });
  const test = useMutation({
    mutationFn: () => call(testChannel({ path: { id } })),
    ...options,
    onSuccess: () => notifications.show({ message: t('channels.tested', { name }) }),
  });
  const remove = useMutation({ mutationFn: () => call(deleteChannel({ path: { id } })), ...options });
  return (
    <tr>
      <td>
        {name} <span className="secondary">{t(`channels.${kind}`)}</span>
        {status === 'paused' && (
          <>
            {' '}
            <ToneMark tone="warn">{t('channels.paused')}</ToneMark>
            <span className="secondary"> {paused_reason}</span>
          </>
        )}
      </td>
      <td>
        <Switch
          size="xs"
          display="inline-block"
          aria-label={t('channels.notifiesOf', { name })}
          checked={change.isPending ? (change.variables.notifies ?? notifies) : notifies}
          onChange={(event) => change.mutate({ notifies: event.target.checked })}
        />
      </td>
      <td>
        <Group gap="xs" justify="flex-end">
          {status === 'paused' ? (
            <Button size="compact-sm" variant="default" onClick={() => change.mutate({ status: 'active' })}>
              {t('channels.resume')}
            </Button>
          ) : (
            <Button
              size="compact-sm"
              variant="default"
              loading={test.isPending}
              onClick={() => test.mutate()}
            >
              {t('channels.test')}
            </Button>
          )}
          <Button size="compact-sm" variant="default" color="red" onClick={() => remove.mutate()}>
            {t('action.remove')}
          </Button>
        </Group>
      </td>
    </tr>
  );
}

const kinds = ['slack', 'teams'] as const;

function NewChannel({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const client = useQueryClient();
  const [kind, setKind] = useState<(typeof kinds)[number]>('slack');
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const form = useSubmit(
    () => call(createChannel({ body: { kind, name, url, notifies: true } })),
    () => {
      void client.invalidateQueries({ queryKey: channelsQuery.queryKey });
      onClose();
    },
  );
  return (
    <Dialog title={t('channels.add')} onClose={onClose}>
      <form onSubmit={form.submit}>
        <Stack gap="sm">
          <Select
            label={t('channels.kind')}
            allowDeselect={false}
            value={kind}
            data={kinds.map((value) => ({ value, label: t(`channels.${value}`) }))}
            onChange={(value) => setKind(value as typeof kind)}
          />
          <TextInput
            data-autofocus
            required
            label={t('save.name')}
            maxLength={200}
            value={name}
            error={form.errorOf('name')}
            onChange={(event) => setName(event.target.value)}
          />
          <TextInput
            required
            type="url"
            autoComplete="off"
            label={t('channels.url')}
            description={t(`channels.how.${kind}`)}
            value={url}
            error={form.errorOf('url')}
            onChange={(event) => setUrl(event.target.value)}
          />
          {form.failure && <Text c="red">{form.failure}</Text>}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={form.isBusy}>
              {t('channels.add')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
