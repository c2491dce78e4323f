import '@fontsource-variable/inter/wght.css';
import './generated/mantine.css';
import '@mantine/notifications/styles.css';
import './kit/base.css';
import './shell/trusted.ts';
import { askFirst } from './shell/first.ts';

// the service answers while the browser compiles the pages
const { pathname } = window.location;
askFirst(pathname);
// whether it fails is seen when it is shown
if (pathname === '/') import('./features/home/HomePage.tsx').catch(() => undefined);
import('./app.tsx').catch(() => {
  // no text of the messages is there either
  Object.assign(document.getElementById('failed')!, { hidden: false, role: 'alert' });
});
