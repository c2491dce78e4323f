import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call, endSession, logoutEverywhere } from '#client';
import { useFormat } from '../../kit/format.ts';
import { useSubmit } from '../../kit/forms.ts';
import { ToneMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { queryClient } from '../../shell/queries.ts';
import styles from './account.module.css';
import { sessionsQuery } from './account.queries.ts';
import { deviceOf } from './device.ts';

/** Where the person is logged in, with a way to end each. */
export function Sessions() {
  const t = useTexts();
  const { ago } = useFormat();
  const { data } = useQuery(sessionsQuery);
  const everywhere = useSubmit(
    () => call(logoutEverywhere({ body: {} })),
    // nothing that was read stays in the page
    () => window.location.assign('/login'),
  );
  const end = async (id: string) => {
    await call(endSession({ path: { id } }));
    await queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
  };
  return (
    <section className={styles.section}>
      <h2>{t('sessions.title')}</h2>
      <p>{t('sessions.help')}</p>
      <table className={`${styles.table} ${styles.wide}`}>
        <thead>
          <tr>
            <th>{t('sessions.device')}</th>
            <th className={styles.optional}>{t('sessions.address')}</th>
            <th>{t('sessions.used')}</th>
            <th>
              <span className="visually-hidden">{t('sessions.end')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {data?.items.map((session) => (
            <tr key={session.id}>
              <td>{deviceOf(session.user_agent) ?? t('sessions.unknown')}</td>
              <td className={styles.optional}>{session.address}</td>
              <td>{session.last_used_at && ago(session.last_used_at)}</td>
              <td>
                {session.is_current ? (
                  <ToneMark tone="ok">{t('sessions.current')}</ToneMark>
                ) : (
                  <Button size="compact-xs" variant="default" onClick={() => end(session.id!)}>
                    {t('sessions.end')}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Button variant="default" loading={everywhere.isBusy} onClick={() => everywhere.submit()}>
        {t('sessions.everywhere')}
      </Button>
    </section>
  );
}
