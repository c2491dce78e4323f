import { Button, Divider, PasswordInput, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { call, login, readSsoConfig } from '#client';
import { useSubmit } from '../../kit/forms.ts';
import { browserLanguages, useTexts } from '../../kit/messages.tsx';
import { bootstrapQuery } from '../../shell/queries.ts';
import { enter } from './enter.ts';
import { PublicPage } from './PublicPage.tsx';
import styles from './public.module.css';
import { startLogin } from './sso.ts';

/** Login by password, and by a code if the account has a second factor. */
export function LoginPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { next } = useSearch({ from: '/login' });
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const form = useSubmit(
    () => {
      const body = { email, password, ...(code && { code }) };
      return call(login({ body, headers: browserLanguages() }));
    },
    (session) => enter(navigate, session, next),
  );
  const { data: methods } = useQuery({
    queryKey: ['login-methods'],
    queryFn: ({ signal }) => call(readSsoConfig({ signal })),
  });
  const { data: settings } = useQuery(bootstrapQuery);
  const provider = useSubmit(
    () => startLogin(next),
    () => undefined,
  );
  const needsCode = code !== '' || form.error?.code === 'two_factor_required';
  const isUnsafe = !window.isSecureContext;
  const failure = isUnsafe
    ? t('login.unsafe')
    : needsCode && code === ''
      ? undefined
      : (form.failure ?? provider.failure);
  return (
    <PublicPage title={t('login.title')} failure={failure}>
      {settings && !settings.login_tagline_hidden && settings.login_tagline && (
        <p>{settings.login_tagline}</p>
      )}
      {methods?.enabled && (
        <>
          <Button size="sm" loading={provider.isBusy} disabled={isUnsafe} onClick={() => provider.submit()}>
            {t('login.sso', { provider: methods.provider ?? '' })}
          </Button>
          <Divider label={t('login.or')} />
        </>
      )}
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
        <Button
          type="submit"
          size="sm"
          variant={methods?.enabled ? 'default' : 'filled'}
          loading={form.isBusy}
          disabled={isUnsafe}
        >
          {t('login.submit')}
        </Button>
      </form>
      <Link to="/forgot-password" className={styles.link}>
        {t('login.forgot')}
      </Link>
      {methods?.registration_enabled && (
        <Link to="/register" search={{ setup: undefined }} className={styles.link}>
          {t('register.title')}
        </Link>
      )}
      {settings?.login_help_text && <p className={styles.help}>{settings.login_help_text}</p>}
      {settings?.login_help_link && /^(https?|mailto):/.test(settings.login_help_link) && (
        <a className={styles.link} href={settings.login_help_link} rel="noopener noreferrer" target="_blank">
          {t('login.help')}
        </a>
      )}
    </PublicPage>
  );
}
