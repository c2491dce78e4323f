import account from './en/account.json';
import card from './en/card.json';
import dashboards from './en/dashboards.json';
import explorer from './en/explorer.json';
import home from './en/home.json';
import importing from './en/import.json';
import inventory from './en/inventory.json';
import keys from './en/keys.json';
import kit from './en/kit.json';
import map from './en/map.json';
import query from './en/query.json';
import reasons from './en/reasons.json';
import reports from './en/reports.json';

/** All texts in English: a file for each feature, `kit` for what they share. */
export const english = {
  ...account,
  ...card,
  ...dashboards,
  ...explorer,
  ...home,
  ...importing,
  ...inventory,
  ...keys,
  ...kit,
  ...map,
  ...query,
  ...reasons,
  ...reports,
};
