import { Loader } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ApiError, call, finishSso } from '#client';
import { browserLanguages, useTexts } from '../../kit/messages.tsx';
import { BackToLogin } from './BackToLogin.tsx';
import { enter } from './enter.ts';
import { PublicPage } from './PublicPage.tsx';
import { startedLogin } from './sso.ts';

/** The return from the identity provider: completes the login, or says why it failed. */
export function SsoCallbackPage() {
  const t = useTexts();
  const navigate = useNavigate();
  const search = useSearch({ from: '/sso/callback' });
  const [failure, setFailure] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a code is used once
  useEffect(() => {
    const started = startedLogin(search.state);
    if (search.error) setFailure(search.error_description || search.error);
    else if (!started) setFailure(t('sso.foreign'));
    else {
      const { code, state, iss } = search;
      const body = { code, state, redirect_uri: started.redirectUri, ...(iss && { iss }) };
      call(finishSso({ body, headers: browserLanguages() })).then(
        (session) => enter(navigate, session, started.next),
        (error: unknown) => setFailure(error instanceof ApiError ? error.message : String(error)),
      );
    }
  }, []);
  return (
    <PublicPage title={t('sso.title')} failure={failure}>
      {failure ? <BackToLogin /> : <Loader size="sm" role="status" aria-label={t('sso.title')} />}
    </PublicPage>
  );
}
