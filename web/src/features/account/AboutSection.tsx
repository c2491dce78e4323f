import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { call, readPersonalData } from '#client';
import { saveFile } from '../../kit/download.ts';
import { useSubmit } from '../../kit/forms.ts';
import { useTexts } from '../../kit/messages.tsx';
import { useMe } from '../../shell/queries.ts';
import styles from './account.module.css';
import { healthQuery } from './account.queries.ts';

/** The version, where help is, and all that is stored about the person. */
export function AboutSection() {
  const t = useTexts();
  const me = useMe();
  const { data } = useQuery(healthQuery);
  const download = useSubmit(
    () => call(readPersonalData({ path: { id: me.id } })),
    (found) =>
      saveFile(
        'personal-data.json',
        new Blob([JSON.stringify(found, undefined, 2)], { type: 'application/json' }),
      ),
  );
  return (
    <>
      <section className={styles.section}>
        <h2>{t('account.about')}</h2>
        <p>{t('about.version', { version: data?.version ?? '' })}</p>
        <a className={styles.link} href="/api/docs" target="_blank" rel="noreferrer">
          {t('about.api')}
        </a>
      </section>
      <section className={styles.section}>
        <h2>{t('about.data')}</h2>
        <p>{t('about.dataHelp')}</p>
        {download.failure && <p role="alert">{download.failure}</p>}
        <Button variant="default" loading={download.isBusy} onClick={() => download.submit()}>
          {t('about.download')}
        </Button>
      </section>
    </>
  );
}
