// Recognizes credentials by the names of variables; values are never read. Used by `inherit_env: "safe"`, where a false
// positive is a nuisance (`env_include` restores it) and a false negative is a leak.

/** Words that mean a secret anywhere in a name. */
const anywhere = /PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL|PRIVATE_?KEY|APIKEY|BEARER/;

/** Words that mean a secret only between underscores: COMPASS and AUTHOR are harmless. */
const asPart = /(?:^|_)(?:TOKENS?|PASS|AUTH|COOKIES?|DSN|PAT|JWT|SALT|PIN|OTP|MNEMONIC)(?:_|$)/;

/** Suffixes without an underscore: PGPASS, GHTOKEN, MYSQL_PWD. PWD and OLDPWD are directories. */
const asEnding = /(?:TOKEN|[^M]PASS|_PWD)$/;

/** Cryptographic and API keys; KEYBOARD and KEY_REPEAT are harmless. */
const keys = /(?:API|ACCESS|SIGNING|ENCRYPTION|MASTER|SESSION|DEPLOY|LICENSE|SERVICE_ACCOUNT|SSH|GPG)_?KEY/;
const vendorKeys =
  /^(?:AWS|AZURE|GCP|GOOGLE|OPENAI|ANTHROPIC|GEMINI|MISTRAL|GITHUB|GITLAB|NPM|DOCKER|STRIPE|TWILIO|SENDGRID|CLOUDFLARE)_(?:.*_)?KEY/;
const endsInKey = /_KEY$/;

/** URLs that usually contain a user and a password. */
const addresses =
  /(?:DATABASE|REDIS|MONGO|POSTGRES|PG|MYSQL|AMQP|RABBITMQ|BROKER|SMTP|WEBHOOK)\w*_?UR[IL]$|_CONNECTION_?STRING$/;

/** Sockets of agents that hold keys, and files that hold secrets. */
const agentsAndFiles =
  /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|KUBECONFIG|NETRC|DOCKER_AUTH_CONFIG|DOCKER_CONFIG|VAULT_ADDR|PGPASSFILE)$/;

const signs = [anywhere, asPart, asEnding, keys, vendorKeys, endsInKey, addresses, agentsAndFiles];

export function looksLikeCredential(name: string): boolean {
  const upper = name.toUpperCase();
  return signs.some((sign) => sign.test(upper));
}
