import { Button, PasswordInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { call, confirmRegistration } from '#client';
import { useSubmit } from '../../kit/forms.ts';
import { browserLanguages, useTexts } from '../../kit/messages.tsx';
import { BackToLogin } from './BackToLogin.tsx';
import { enter } from './enter.ts';
import { PublicPage } from './PublicPage.tsx';

/** The page of the link in the mail of a registration. */
export function ConfirmRegistrationPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { token } = useSearch({ from: '/confirm-registration' });
  const [password, setPassword] = useState('');
  const [isWaiting, setWaiting] = useState(false);
  const form = useSubmit(
    () => call(confirmRegistration({ body: { token, password }, headers: browserLanguages() })),
    async (result) => {
      if ('status' in result) setWaiting(true);
      else await enter(navigate, result);
    },
  );
  if (isWaiting)
    return (
      <PublicPage title={t('register.confirm')}>
        <p>{t('register.waiting')}</p>
        <BackToLogin />
      </PublicPage>
    );
  return (
    <PublicPage title={t('register.confirm')} failure={form.failure}>
      <form onSubmit={form.submit}>
        <PasswordInput
          label={t('login.password')}
          description={t('register.same')}
          autoComplete="current-password"
          required
          withAsterisk={false}
          autoFocus
          value={password}
          onChange={(event) => setPassword(event.target.value)}
          error={form.errorOf('password')}
        />
        <Button type="submit" size="sm" loading={form.isBusy}>
          {t('login.submit')}
        </Button>
      </form>
      <BackToLogin />
    </PublicPage>
  );
}
