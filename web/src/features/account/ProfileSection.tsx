import { Button, SegmentedControl, TextInput, useMantineColorScheme } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { call, patchUser } from '#client';
import { useSubmit } from '../../kit/forms.ts';
import { languageNames, nearestLanguage, useTexts } from '../../kit/messages.tsx';
import { meQuery, queryClient, useBootstrap, useMe } from '../../shell/queries.ts';
import styles from './account.module.css';

/** Name, language and look. */
export function ProfileSection() {
  const t = useTexts();
  const me = useMe();
  const { languages } = useBootstrap();
  const [name, setName] = useState(me.display_name);
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const reload = () => queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
  const account = useSubmit(
    () => call(patchUser({ path: { id: me.id }, body: { display_name: name } })),
    async () => {
      await reload();
      notifications.show({ message: t('profile.saved') });
    },
  );
  const setLocale = async (locale: string) => {
    await call(patchUser({ path: { id: me.id }, body: { locale } }));
    await reload();
  };
  return (
    <>
      <form className={styles.section} onSubmit={account.submit}>
        <h2>{t('profile.account')}</h2>
        <TextInput label={t('login.email')} value={me.email} readOnly variant="unstyled" />
        <TextInput
          label={t('field.name')}
          autoComplete="name"
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={account.errorOf('display_name') ?? account.failure}
        />
        <TextInput label={t('profile.role')} value={me.role_label ?? me.role} readOnly variant="unstyled" />
        <Button type="submit" variant="default" loading={account.isBusy} disabled={name === me.display_name}>
          {t('action.save')}
        </Button>
      </form>
      {languages.length > 1 && (
        <section className={styles.section}>
          <h2 id="language">{t('profile.language')}</h2>
          <SegmentedControl
            size="xs"
            aria-labelledby="language"
            value={nearestLanguage(me.locale, languages)}
            onChange={setLocale}
            data={languages.map((value) => ({ value, label: languageNames[value] }))}
          />
        </section>
      )}
      <section className={styles.section}>
        <h2 id="look">{t('profile.look')}</h2>
        <SegmentedControl
          size="xs"
          aria-labelledby="look"
          value={colorScheme}
          onChange={(value) => setColorScheme(value as typeof colorScheme)}
          data={[
            { value: 'auto', label: t('look.auto') },
            { value: 'light', label: t('look.light') },
            { value: 'dark', label: t('look.dark') },
          ]}
        />
      </section>
    </>
  );
}
