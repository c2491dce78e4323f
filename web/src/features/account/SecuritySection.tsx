import { Button, PasswordInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, patchUser } from '#client';
import { useSubmit } from '../../kit/forms.ts';
import { useTexts } from '../../kit/messages.tsx';
import { useMe } from '../../shell/queries.ts';
import styles from './account.module.css';
import { twoFactorQuery } from './account.queries.ts';
import { Sessions } from './Sessions.tsx';
import { TwoFactor } from './TwoFactor.tsx';

/** Password, second factor, and where the person is logged in. */
export function SecuritySection() {
  const { data: factor } = useQuery(twoFactorQuery);
  return (
    <>
      <Password />
      {factor && <TwoFactor state={factor} />}
      <Sessions />
    </>
  );
}

function Password() {
  const t = useTexts();
  const me = useMe();
  const [password, setPassword] = useState('');
  const [current, setCurrent] = useState('');
  const form = useSubmit(
    () => call(patchUser({ path: { id: me.id }, body: { password, current_password: current } })),
    () => {
      setPassword('');
      setCurrent('');
      notifications.show({ message: t('password.saved') });
    },
  );
  return (
    <form className={styles.section} onSubmit={form.submit}>
      <h2>{t('login.password')}</h2>
      <input type="hidden" autoComplete="username" value={me.email} readOnly />
      <PasswordInput
        label={t('profile.current')}
        autoComplete="current-password"
        value={current}
        onChange={(event) => setCurrent(event.target.value)}
        error={form.errorOf('current_password')}
      />
      <PasswordInput
        label={t('reset.password')}
        description={t('password.ends')}
        autoComplete="new-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={form.errorOf('password') ?? form.failure}
      />
      <Button
        type="submit"
        variant="default"
        loading={form.isBusy}
        disabled={password === '' || current === ''}
      >
        {t('reset.submit')}
      </Button>
    </form>
  );
}
