import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import {
  call,
  forgotPassword,
  resetPassword,
  setPassword,
  validateResetToken,
  validateSetupToken,
} from '#client';
import { useSubmit } from '../../kit/forms.ts';
import { useTexts } from '../../kit/messages.tsx';
import { BackToLogin } from './BackToLogin.tsx';
import { enter } from './enter.ts';
import { PublicPage } from './PublicPage.tsx';
import styles from './public.module.css';

/** Asks for a mail with a link. */
export function ForgotPasswordPage() {
  const t = useTexts();
  const [email, setEmail] = useState('');
  const [isSent, setSent] = useState<boolean>();
  const form = useSubmit(
    () => call(forgotPassword({ body: { email } })),
    ({ mail_configured }) => setSent(mail_configured),
  );
  if (isSent !== undefined)
    return (
      <PublicPage title={t('forgot.title')}>
        <p>{isSent ? t('forgot.sent', { email }) : t('forgot.noMail')}</p>
        <BackToLogin />
      </PublicPage>
    );
  return (
    <PublicPage title={t('forgot.title')} failure={form.failure}>
      <form onSubmit={form.submit}>
        <TextInput
          label={t('login.email')}
          type="email"
          autoComplete="username"
          required
          withAsterisk={false}
          autoFocus
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          error={form.errorOf('email')}
        />
        <Button type="submit" size="sm" loading={form.isBusy}>
          {t('forgot.submit')}
        </Button>
      </form>
      <BackToLogin />
    </PublicPage>
  );
}

/** The page of the link for a forgotten password. */
export function ResetPasswordPage() {
  const t = useTexts();
  const { token } = useSearch({ from: '/reset-password' });
  const navigate = useNavigate();
  return (
    <NewPassword
      title={t('reset.title')}
      validate={(signal) => call(validateResetToken({ signal, query: { token } }))}
      save={async (password) => {
        await call(resetPassword({ body: { token, password } }));
        await navigate({ to: '/login', search: { next: undefined } });
      }}
    />
  );
}

/** The page of an invitation's link. */
export function SetPasswordPage() {
  const t = useTexts();
  const { token } = useSearch({ from: '/set-password' });
  const navigate = useNavigate();
  return (
    <NewPassword
      title={t('invited.title')}
      validate={(signal) => call(validateSetupToken({ signal, query: { token } }))}
      save={async (password) => {
        await enter(navigate, await call(setPassword({ body: { token, password } })));
      }}
    />
  );
}

interface NewPasswordProps {
  title: string;
  validate(signal: AbortSignal): Promise<{ email: string; display_name: string }>;
  save(password: string): Promise<void>;
}

function NewPassword({ title, validate, save }: NewPasswordProps) {
  const t = useTexts();
  const [password, setValue] = useState('');
  const account = useQuery({
    queryKey: ['password-token', title],
    queryFn: ({ signal }) => validate(signal),
    retry: false,
  });
  const form = useSubmit(
    () => save(password),
    () => undefined,
  );
  if (account.isError)
    return (
      <PublicPage title={title} failure={t('reset.expired')}>
        <Link to="/forgot-password" className={styles.link}>
          {t('reset.again')}
        </Link>
      </PublicPage>
    );
  return (
    <PublicPage title={title} failure={form.failure}>
      <p>
        {account.data
          ? t('reset.for', { name: account.data.display_name, email: account.data.email })
          : '\u00a0'}
      </p>
      <form onSubmit={form.submit}>
        <input type="hidden" autoComplete="username" value={account.data?.email ?? ''} readOnly />
        <PasswordInput
          label={t('reset.password')}
          autoComplete="new-password"
          required
          withAsterisk={false}
          autoFocus
          value={password}
          onChange={(event) => setValue(event.target.value)}
          error={form.errorOf('password')}
        />
        <Button type="submit" size="sm" loading={form.isBusy} disabled={!account.data}>
          {t('reset.submit')}
        </Button>
      </form>
    </PublicPage>
  );
}
