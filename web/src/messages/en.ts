import account from './en/account.json';
import card from './en/card.json';
import home from './en/home.json';
import inventory from './en/inventory.json';
import kit from './en/kit.json';
import map from './en/map.json';
import reports from './en/reports.json';

/** All texts in English: a file for each feature, `kit` for what they share. */
export const english = { ...account, ...card, ...home, ...inventory, ...kit, ...map, ...reports };
