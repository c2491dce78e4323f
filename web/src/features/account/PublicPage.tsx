import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { bootstrapQuery } from '../../shell/queries.ts';
import styles from './public.module.css';

interface PublicPageProps {
  title: string;
  /** What went wrong. */
  failure?: string;
  children: ReactNode;
}

/** The frame of a page before the login. */
export function PublicPage({ title, failure, children }: PublicPageProps) {
  const { data } = useQuery(bootstrapQuery);
  const name = data?.app_title || 'Estate';
  useEffect(() => {
    document.title = `${title} · ${name}`;
  }, [title, name]);
  return (
    <main className={styles.page}>
      <div className={styles.box}>
        <p className={styles.name}>{name}</p>
        <h1>{title}</h1>
        {failure && (
          <Alert color="red" variant="light" role="alert">
            {failure}
          </Alert>
        )}
        {children}
      </div>
    </main>
  );
}
