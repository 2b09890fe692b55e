// What looks like a credential, by its name alone: values are nobody's business. Used by `inherit_env: "safe"`, where
// a name too many is a nuisance (`env_include` brings it back) and a name too few is a leak.

/** Words that stand for a secret wherever they appear. */
const anywhere = /PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL|PRIVATE_?KEY|APIKEY|BEARER/;

/** Words that do only as a part of their own: COMPASS and AUTHOR are harmless. */
const asPart = /(?:^|_)(?:TOKENS?|PASS|AUTH|COOKIES?|DSN|PAT|JWT|SALT|PIN|OTP|MNEMONIC)(?:_|$)/;

/** Glued to the name of their program: PGPASS, GHTOKEN, MYSQL_PWD. PWD and OLDPWD are directories. */
const asEnding = /(?:TOKEN|[^M]PASS|_PWD)$/;

/** Keys that open something; KEYBOARD and KEY_REPEAT do not. */
const keys = /(?:API|ACCESS|SIGNING|ENCRYPTION|MASTER|SESSION|DEPLOY|LICENSE|SERVICE_ACCOUNT|SSH|GPG)_?KEY/;
const vendorKeys =
  /^(?:AWS|AZURE|GCP|GOOGLE|OPENAI|ANTHROPIC|GEMINI|MISTRAL|GITHUB|GITLAB|NPM|DOCKER|STRIPE|TWILIO|SENDGRID|CLOUDFLARE)_(?:.*_)?KEY/;
const endsInKey = /_KEY$/;

/** Addresses that usually carry a user and a password. */
const addresses =
  /(?:DATABASE|REDIS|MONGO|POSTGRES|PG|MYSQL|AMQP|RABBITMQ|BROKER|SMTP|WEBHOOK)\w*_?UR[IL]$|_CONNECTION_?STRING$/;

/** Doors to agents that hold keys, and files that hold secrets. */
const doors =
  /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|KUBECONFIG|NETRC|DOCKER_AUTH_CONFIG|DOCKER_CONFIG|VAULT_ADDR|PGPASSFILE)$/;

const signs = [anywhere, asPart, asEnding, keys, vendorKeys, endsInKey, addresses, doors];

export function looksLikeCredential(name: string): boolean {
  const upper = name.toUpperCase();
  return signs.some((sign) => sign.test(upper));
}
