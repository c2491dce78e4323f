import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { call, register } from '#client';
import { useSubmit } from '../../kit/forms.ts';
import { useTexts } from '../../kit/messages.tsx';
import { BackToLogin } from './BackToLogin.tsx';
import { enter } from './enter.ts';
import { PublicPage } from './PublicPage.tsx';

/** Creates an account: the first of the workspace with the one-time link of its start, others by a mail. */
export function RegisterPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const { setup } = useSearch({ from: '/register' });
  const [values, setValues] = useState({ email: '', display_name: '', password: '' });
  const [isSent, setSent] = useState(false);
  const form = useSubmit(
    () => call(register({ body: { ...values, ...(setup && { setup_token: setup }) } })),
    async (result) => {
      if ('status' in result) setSent(true);
      else await enter(navigate, result);
    },
  );
  const title = t(setup ? 'register.first' : 'register.title');
  if (isSent)
    return (
      <PublicPage title={title}>
        <p>{t('register.sent', { email: values.email })}</p>
        <BackToLogin />
      </PublicPage>
    );
  const set = (key: keyof typeof values) => (event: React.ChangeEvent<HTMLInputElement>) =>
    setValues({ ...values, [key]: event.target.value });
  return (
    <PublicPage title={title} failure={form.failure}>
      {setup && <p>{t('register.firstHelp')}</p>}
      <form onSubmit={form.submit}>
        <TextInput
          label={t('login.email')}
          type="email"
          autoComplete="username"
          required
          withAsterisk={false}
          autoFocus
          value={values.email}
          onChange={set('email')}
          error={form.errorOf('email')}
        />
        <TextInput
          label={t('field.name')}
          autoComplete="name"
          required
          withAsterisk={false}
          value={values.display_name}
          onChange={set('display_name')}
          error={form.errorOf('display_name')}
        />
        <PasswordInput
          label={t('login.password')}
          autoComplete="new-password"
          required
          withAsterisk={false}
          value={values.password}
          onChange={set('password')}
          error={form.errorOf('password')}
        />
        <Button type="submit" size="sm" loading={form.isBusy}>
          {t('register.submit')}
        </Button>
      </form>
      <BackToLogin />
    </PublicPage>
  );
}
