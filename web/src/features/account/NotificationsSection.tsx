import { Switch } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { call, type NotificationPreferences, patchNotificationPreferences } from '#client';
import { useTexts } from '../../kit/messages.tsx';
import styles from './account.module.css';
import { preferencesQuery } from './account.queries.ts';
import { ChannelsSection } from './ChannelsSection.tsx';

type Channel = keyof NotificationPreferences;
type Kind = keyof NotificationPreferences['in_app'];

const channels: Channel[] = ['in_app', 'email', 'chat'];

/** Which events notify the person, and the channels that get them, too. */
export function NotificationsSection() {
  return (
    <>
      <ChannelsSection />
      <SwitchesSection />
    </>
  );
}

/** Which events notify the person, in the application, by mail and in chats. */
function SwitchesSection() {
  const t = useTexts();
  const client = useQueryClient();
  const { data } = useQuery(preferencesQuery);
  const change = useMutation({
    mutationFn: (body: { [channel in Channel]?: Partial<NotificationPreferences[Channel]> }) =>
      call(patchNotificationPreferences({ body })),
    onSuccess: (saved) => client.setQueryData(preferencesQuery.queryKey, saved),
  });
  if (!data) return null;
  const kinds = Object.keys(data.in_app) as Kind[];
  const shown = { ...data };
  if (change.isPending)
    for (const channel of channels) shown[channel] = { ...shown[channel], ...change.variables[channel] };
  return (
    <section className={styles.section}>
      <h2>{t('account.notifications')}</h2>
      {change.error && <p role="alert">{change.error.message}</p>}
      <table className={`${styles.table} ${styles.wide}`}>
        <thead>
          <tr>
            <th>{t('notices.kind')}</th>
            <th>{t('notices.in_app')}</th>
            <th>{t('notices.email')}</th>
            <th>{t('notices.chat')}</th>
          </tr>
        </thead>
        <tbody>
          {kinds.map((kind) => (
            <tr key={kind}>
              <td>{t(`notices.${kind}`)}</td>
              {channels.map((channel) => (
                <td key={channel}>
                  <Switch
                    size="xs"
                    display="inline-block"
                    aria-label={`${t(`notices.${kind}`)}, ${t(`notices.${channel}`)}`}
                    checked={shown[channel][kind]}
                    onChange={(event) => change.mutate({ [channel]: { [kind]: event.target.checked } })}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
