import { Button, PasswordInput, TextInput } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { call, login } from '#client';
import { useSubmit } from '../../kit/forms.ts';
import { useTexts } from '../../kit/messages.tsx';
import { queryClient } from '../../shell/queries.ts';
import { PublicPage } from './PublicPage.tsx';
import styles from './public.module.css';

/** Login by password, and by a code if the account has a second factor. */
export function LoginPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { next } = useSearch({ from: '/login' });
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const form = useSubmit(
    () => call(login({ body: { email, password, ...(code && { code }) } })),
    async () => {
      queryClient.clear();
      await navigate({ href: next ?? '/', replace: true });
    },
  );
  const needsCode = code !== '' || form.error?.code === 'two_factor_required';
  const isUnsafe = !window.isSecureContext;
  const failure = isUnsafe ? t('login.unsafe') : needsCode && code === '' ? undefined : form.failure;
  return (
    <PublicPage title={t('login.title')} failure={failure}>
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
        <PasswordInput
          label={t('login.password')}
          autoComplete="current-password"
          required
          withAsterisk={false}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
          error={form.errorOf('password')}
        />
        {needsCode && (
          <TextInput
            label={t('login.code')}
            description={t('login.codeHelp')}
            autoComplete="one-time-code"
            inputMode="numeric"
            value={code}
            onChange={(event) => setCode(event.target.value)}
          />
        )}
        <Button type="submit" size="sm" loading={form.isBusy} disabled={isUnsafe}>
          {t('login.submit')}
        </Button>
      </form>
      <Link to="/forgot-password" className={styles.link}>
        {t('login.forgot')}
      </Link>
    </PublicPage>
  );
}
