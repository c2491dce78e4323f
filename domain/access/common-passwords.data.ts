/**
 * Passwords of 12 characters or more that guessing programs try first: well-known words and keyboard walks
 * joined and repeated. Compared in lower case without blanks.
 */
export const commonPasswords: ReadonlySet<string> = new Set(
  `123456789012 1234567890123 123456789123 0123456789012 1q2w3e4r5t6y 1qaz2wsx3edc qwertyuiop12 qwertyuiop123
   qwertyuiopasdf qwertyuiop[] qwerty123456 qwerty1234567 qwertyqwerty asdfghjkl123 zxcvbnm12345 q1w2e3r4t5y6
   passwordpassword password1234 password12345 password123456 password2024 password2025 password2026 mypassword123
   passw0rd1234 p@ssw0rd1234 p@ssword1234 p@ssw0rd12345 letmeinletmein letmein12345 welcome12345 welcome123456
   welcome2024! welcome2025! welcome2026! administrator administrator1 admin1234567 admin12345678 adminadmin12
   adminadminadmin changeme1234 changemechangeme changemeplease defaultpassword secretsecret supersecret123
   iloveyou1234 iloveyouiloveyou sunshine1234 princess1234 football1234 baseball1234 monkey123456 dragon123456
   master123456 superman1234 batman123456 trustno1trustno1 starwars1234 whatever1234 michael12345 abcdefghijkl
   abcdefghijklm abcdef123456 abc123abc123 abcd1234abcd test12345678 testtesttest testpassword demodemodemo
   guestguestguest useruseruser rootrootroot correcthorsebatterystaple estateestate enterprise12 companycompany`
    .split(/\s+/)
    .filter(Boolean),
);
