import { Button, PasswordInput, SegmentedControl, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { call, patchUser } from '#client';
import { useSubmit } from '../../kit/forms.ts';
import { useTexts } from '../../kit/messages.tsx';
import { Page } from '../../kit/Page.tsx';
import { meQuery, queryClient, useMe } from '../../shell/queries.ts';
import styles from './profile.module.css';

/** The person's own account. */
export function ProfilePage() {
  const t = useTexts();
  const me = useMe();
  const [name, setName] = useState(me.display_name);
  const [password, setPassword] = useState('');
  const [current, setCurrent] = useState('');
  const saved = async () => {
    await queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
    setPassword('');
    setCurrent('');
    notifications.show({ message: t('profile.saved') });
  };
  const account = useSubmit(
    () => call(patchUser({ path: { id: me.id }, body: { display_name: name } })),
    saved,
  );
  const secret = useSubmit(
    () => call(patchUser({ path: { id: me.id }, body: { password, current_password: current } })),
    saved,
  );
  const setLocale = async (locale: string) => {
    await call(patchUser({ path: { id: me.id }, body: { locale } as never }));
    await queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
  };
  return (
    <Page title={<h1>{t('nav.profile')}</h1>}>
      <div className={styles.page}>
        <form className={styles.section} onSubmit={account.submit}>
          <h2>{t('profile.account')}</h2>
          <TextInput label={t('login.email')} value={me.email} readOnly />
          <TextInput
            label={t('field.name')}
            value={name}
            onChange={(event) => setName(event.target.value)}
            error={account.errorOf('display_name') ?? account.failure}
          />
          <Button
            type="submit"
            variant="default"
            loading={account.isBusy}
            disabled={name === me.display_name}
          >
            {t('action.save')}
          </Button>
        </form>
        <section className={styles.section}>
          <h2>{t('profile.language')}</h2>
          <SegmentedControl
            size="xs"
            value={me.locale.startsWith('de') ? 'de' : 'en'}
            onChange={setLocale}
            data={[
              { value: 'en', label: 'English' },
              { value: 'de', label: 'Deutsch' },
            ]}
          />
        </section>
        <form className={styles.section} onSubmit={secret.submit}>
          <h2>{t('login.password')}</h2>
          <input type="hidden" autoComplete="username" value={me.email} readOnly />
          <PasswordInput
            label={t('profile.current')}
            autoComplete="current-password"
            value={current}
            onChange={(event) => setCurrent(event.target.value)}
            error={secret.errorOf('current_password')}
          />
          <PasswordInput
            label={t('reset.password')}
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
            error={secret.errorOf('password') ?? secret.failure}
          />
          <Button
            type="submit"
            variant="default"
            loading={secret.isBusy}
            disabled={password === '' || current === ''}
          >
            {t('reset.submit')}
          </Button>
        </form>
      </div>
    </Page>
  );
}
