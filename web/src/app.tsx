import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { LanguageProvider } from './kit/messages.tsx';
import { Theme } from './kit/Theme.tsx';
import { queryClient } from './shell/queries.ts';
import { router } from './shell/router.tsx';

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <LanguageProvider>
        <Theme>
          <RouterProvider router={router} />
        </Theme>
      </LanguageProvider>
    </QueryClientProvider>
  </StrictMode>,
);
