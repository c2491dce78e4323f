import { Button, Modal } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, revokeToken } from '#client';
import { useFormat } from '../../kit/format.ts';
import { ToneMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { queryClient } from '../../shell/queries.ts';
import styles from './account.module.css';
import { tokensQuery } from './account.queries.ts';
import { CopyButton } from './CopyButton.tsx';
import { NewToken } from './NewToken.tsx';
import { TokenExamples } from './TokenExamples.tsx';

/** Tokens with which programs act as the person, and how to use them. */
export function TokensSection() {
  const t = useTexts();
  const { ago, date } = useFormat();
  const { data } = useQuery(tokensQuery);
  const [isCreating, setCreating] = useState(false);
  const [token, setToken] = useState<string>();
  const revoke = async (id: string) => {
    await call(revokeToken({ path: { id } }));
    await queryClient.invalidateQueries({ queryKey: tokensQuery.queryKey });
  };
  return (
    <section className={styles.section}>
      <h2>{t('account.tokens')}</h2>
      <p>{t('tokens.help')}</p>
      {token && (
        <div className={`${styles.setup} ${styles.wide}`} role="status">
          <p>{t('tokens.once')}</p>
          <code className={styles.secret}>{token}</code>
          <CopyButton text={token} />
        </div>
      )}
      <Button onClick={() => setCreating(true)}>{t('tokens.create')}</Button>
      <Modal opened={isCreating} onClose={() => setCreating(false)} title={t('tokens.create')} size="lg">
        <NewToken
          onDone={(created) => {
            setCreating(false);
            setToken(created);
          }}
        />
      </Modal>
      {data && data.items.length > 0 && (
        <table className={`${styles.table} ${styles.wide}`}>
          <thead>
            <tr>
              <th>{t('field.name')}</th>
              <th className={styles.optional}>{t('tokens.scopes')}</th>
              <th>{t('tokens.expires')}</th>
              <th className={styles.optional}>{t('sessions.used')}</th>
              <th>
                <span className="visually-hidden">{t('tokens.revoke')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {data.items.map((one) => (
              <tr key={one.id}>
                <td>
                  {one.name} <span className={styles.note}>{one.hint}</span>
                </td>
                <td className={styles.optional} title={one.scopes?.join(', ')}>
                  {one.scopes?.includes('*') ? t('tokens.all') : one.scopes?.length}
                </td>
                <td>
                  {one.is_expired ? (
                    <ToneMark tone="bad">{t('tokens.expired')}</ToneMark>
                  ) : (
                    one.expires_at && date(one.expires_at)
                  )}
                </td>
                <td className={styles.optional}>{one.last_used_at ? ago(one.last_used_at) : '–'}</td>
                <td>
                  <Button size="compact-xs" variant="default" onClick={() => revoke(one.id!)}>
                    {t('tokens.revoke')}
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <TokenExamples token={token} />
    </section>
  );
}
