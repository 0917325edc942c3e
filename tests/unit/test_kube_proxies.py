"""Which proxy leads to a server: Go's rules (golang.org/x/net/http/httpproxy), the kubeconfig's own proxy first."""

import pytest

from reparto.kube.connection import Server
from reparto.kube.errors import ConfigError
from reparto.kube.proxies import proxy_for

PROXY = {"HTTPS_PROXY": "http://proxy.example:3128"}


def through(server: str, **environ: str) -> str | None:
    return proxy_for(Server(url=server), PROXY | environ)


def test_the_proxy_of_the_kubeconfig_wins_over_the_environment_and_no_proxy():
    server = Server(url="https://k8s.example", proxy_url="socks5://127.0.0.1:1080")
    assert proxy_for(server, PROXY | {"NO_PROXY": "*"}) == "socks5://127.0.0.1:1080"


def test_each_scheme_has_its_variable_in_either_case():
    assert proxy_for(Server(url="https://a.example"), {"https_proxy": "http://p:1"}) == "http://p:1"
    assert proxy_for(Server(url="http://a.example"), {"HTTP_PROXY": "http://p:2"}) == "http://p:2"
    assert proxy_for(Server(url="http://a.example"), PROXY) is None


def test_a_proxy_without_a_scheme_is_an_http_proxy():
    assert proxy_for(Server(url="https://a.example"), {"HTTPS_PROXY": "proxy:3128"}) == "http://proxy:3128"


@pytest.mark.parametrize("server", ["https://localhost:6443", "https://127.0.0.1:6443", "https://[::1]:6443"])
def test_loopback_never_goes_through_the_environments_proxy(server: str):
    assert through(server) is None


@pytest.mark.parametrize(
    ("excluded", "direct"),
    [
        ("k8s.example", True),
        ("example", True),
        (".example", True),
        ("*.example", True),
        ("K8S.EXAMPLE", True),
        ("8s.example", False),
        (".k8s.example", False),
        ("other.test, k8s.example", True),
        ("k8s.example:6443", True),
        ("k8s.example:443", False),
        ("*", True),
        ("", False),
    ],
)
def test_no_proxy_names_hosts_with_their_subdomains_and_perhaps_a_port(excluded: str, direct: bool):
    assert (through("https://k8s.example:6443", NO_PROXY=excluded) is None) == direct


@pytest.mark.parametrize(
    ("excluded", "direct"),
    [("10.0.0.0/8", True), ("10.1.2.3", True), ("10.1.2.4", False), ("192.168.0.0/16", False), ("10.0.0.0/99", False)],
)
def test_no_proxy_names_addresses_and_networks(excluded: str, direct: bool):
    assert (through("https://10.1.2.3:6443", no_proxy=excluded) is None) == direct


def test_networks_of_the_other_family_do_not_match():
    assert through("https://[fd00::1]:6443", NO_PROXY="10.0.0.0/8") is not None
    assert through("https://[fd00::1]:6443", NO_PROXY="fd00::/8") is None


@pytest.mark.parametrize("address", ["ftp://proxy:1", "http://", "http://proxy:none"])
def test_what_is_no_proxy_is_refused(address: str):
    with pytest.raises(ConfigError, match="no address of a proxy"):
        proxy_for(Server(url="https://a.example", proxy_url=address), {})
