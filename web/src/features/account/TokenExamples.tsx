import { Tabs } from '@mantine/core';
import { useTexts } from '../../kit/messages.tsx';
import styles from './account.module.css';
import { CopyButton } from './CopyButton.tsx';

type Program = 'curl' | 'excel' | 'powerbi' | 'duckdb';

const examples = (origin: string, token: string): Record<Program, string> => ({
  curl: `curl -H 'Authorization: Bearer ${token}' '${origin}/api/v1/cards?type=Application&page_size=50'`,
  excel: `${origin}/odata/v4`,
  powerbi: `${origin}/odata/v4`,
  duckdb: [
    'INSTALL httpfs; LOAD httpfs;',
    `CREATE SECRET estate (TYPE http, BEARER_TOKEN '${token}');`,
    `SELECT type, count(*) FROM read_csv('${origin}/api/v1/cards/export/csv') GROUP BY type;`,
  ].join('\n'),
});

const names: Record<Program, string> = {
  curl: 'curl',
  excel: 'Excel',
  powerbi: 'Power BI',
  duckdb: 'DuckDB',
};

/** How programs use a token, with its value filled in while it is known. */
export function TokenExamples({ token = 'est_…' }: { token?: string }) {
  const t = useTexts();
  const texts = examples(window.location.origin, token);
  return (
    <div className={`${styles.setup} ${styles.wide}`}>
      <h2>{t('tokens.examples')}</h2>
      <Tabs defaultValue="curl" variant="pills">
        <Tabs.List>
          {(Object.keys(names) as Program[]).map((program) => (
            <Tabs.Tab key={program} value={program}>
              {names[program]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {(Object.keys(names) as Program[]).map((program) => (
          <Tabs.Panel key={program} value={program} pt="sm" className={styles.setup}>
            {program !== 'curl' && <p>{t(`tokens.${program}`)}</p>}
            <pre className={styles.example}>{texts[program]}</pre>
            <CopyButton text={texts[program]} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </div>
  );
}
